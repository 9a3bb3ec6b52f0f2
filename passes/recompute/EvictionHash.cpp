//===- EvictionHash.cpp - Hashes of evictions, equal for equal layers -------------------------===//

#include "passes/recompute/Rematerializer.h"

#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSlice.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mtc;

size_t mtc::hashWithoutOperands(Operation *op) {
  size_t hash = 0;
  op->walk([&](Operation *each) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(each, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

/// Follows the operands as `copyAt`, `valueAt` and `moveUp` do, until the operations take
/// `maxTime` seconds.
class Rematerializer::EvictionHash {
public:
  EvictionHash(const Rematerializer &values, Operation *user, OperationTimes &times, double maxTime)
      : values(values), user(user), times(times), timeLeft(maxTime) {}

  void addCopy(OpResult value) {
    if (Value known = values.copies.lookup(value))
      return addMove(known.getDefiningOp());
    if (addKnown(value))
      return;
    Operation *op = value.getOwner();
    auto kernel = dyn_cast<KernelOp>(op);
    const SmallVector<Value> operands = kernel ? operandsOf(kernel, value.getResultNumber())
                                               : SmallVector<Value>(op->getOperands());
    if (!spend(kernel ? partOf(kernel, value, operands) * times.of(op) : times.of(op)))
      return;
    add(value.getResultNumber());
    add(values.hashOf(op));
    add(values.mayCompute(op, user));
    // A slice of a kernel may start from other results.
    for (Value other : op->getResults())
      add(values.isAvailableAt(other, user));
    for (Value operand : operands)
      addOperand(operand, op);
  }

  /// Adds the properties that determine how dead operands are treated if a copy of the operation
  /// exists already: the operation is then not repeated, but its operands may be.
  void addOwner(OpResult value) {
    Operation *op = value.getOwner();
    add(value.getResultNumber());
    add(values.hashOf(op));
    for (Value operand : op->getOperands())
      add(values.isAvailableAt(operand, user));
  }

  std::optional<size_t> get() const { return timeLeft >= 0 ? std::optional(hash) : std::nullopt; }

private:
  enum class Source { Live, Variable, View, Copied, Before, Known };

  void add(size_t part) { hash = llvm::hash_combine(hash, part); }
  void add(Source source) { add(static_cast<size_t>(source)); }

  /// Returns the operands of the kernel that computes one result in place of a kernel
  /// (`sliceKernel`).
  SmallVector<Value> operandsOf(KernelOp kernel, unsigned result) {
    auto toValues = [&](ArrayRef<unsigned> numbers) {
      return llvm::map_to_vector(numbers,
                                 [&](unsigned number) { return kernel->getOperand(number); });
    };
    auto isAvailable = [&](Value each) { return values.isAvailableAt(each, user); };
    auto [inputs, isNew] = values.inputs.try_emplace(kernel->getResult(result));
    if (isNew)
      inputs->second = findInputsOf(kernel, result);
    SmallVector<Value> alone = toValues(inputs->second);
    if (llvm::all_of(alone, isAvailable))
      return alone;
    SmallVector<unsigned> loadable = findLoadable(kernel, result, isAvailable);
    if (loadable.empty())
      return alone;
    SmallVector<Value> rest = toValues(findInputsOf(kernel, result, loadable));
    return llvm::all_of(rest, isAvailable) ? rest : alone;
  }

  /// Returns a lower bound on the fraction of a kernel's memory traffic that one result needs.
  static double partOf(KernelOp kernel, Value value, ArrayRef<Value> operands) {
    auto bytes = [](auto &&all) {
      int64_t sum = 0;
      for (Value each : all)
        sum += byteSize(cast<RankedTensorType>(each.getType()));
      return static_cast<double>(sum);
    };
    return (bytes(ArrayRef(value)) + bytes(operands)) /
           (bytes(kernel->getOperands()) + bytes(kernel->getResults()));
  }

  /// Returns false if the time is up.
  bool spend(double seconds) {
    timeLeft -= seconds;
    return timeLeft >= 0;
  }

  /// Returns whether the value was added before.
  bool addKnown(Value value) {
    auto [entry, isNew] = numbers.try_emplace(value, numbers.size());
    if (isNew)
      return false;
    add(Source::Known);
    add(entry->second);
    return true;
  }

  void addOperand(Value value, Operation *consumer) {
    Operation *op = value.getDefiningOp();
    if (!op || !(computes(op) || op->hasTrait<mtc::View>()))
      return add(Source::Variable);
    if (op->hasTrait<mtc::View>()) {
      add(Source::View);
      add(values.hashOf(op));
      return addOperand(op->getOperand(0), consumer);
    }
    if (!values.copies.contains(value) &&
        (isSmallComparedTo(value, consumer) || values.isAliveAt(value, user)))
      return add(Source::Live);
    addCopy(cast<OpResult>(value));
  }

  void addMove(Operation *copy) {
    if (values.order.isBefore(copy, user))
      return add(Source::Before);
    if (copy->getNumResults() > 0 && addKnown(copy->getResult(0)))
      return;
    if (!spend(times.of(copy)))
      return;
    add(Source::Copied);
    add(values.hashOf(copy));
    for (Value operand : copy->getOperands())
      if (Operation *source = operand.getDefiningOp())
        addMove(source);
  }

  const Rematerializer &values;
  Operation *user;
  OperationTimes &times;
  double timeLeft;
  size_t hash = 0;
  llvm::SmallDenseMap<Value, size_t> numbers;
};

size_t Rematerializer::hashOf(Operation *op) const {
  auto [entry, isNew] = hashes.try_emplace(op, 0);
  if (isNew)
    entry->second = hashWithoutOperands(op);
  return entry->second;
}

std::optional<size_t> Rematerializer::hashEviction(OpResult value, Operation *place,
                                                   OperationTimes &times, double maxTime) const {
  Operation *first = firstUser(value, place);
  if (!first)
    return std::nullopt;
  EvictionHash hash(*this, first, times, maxTime);
  if (copies.contains(value))
    hash.addOwner(value);
  hash.addCopy(value);
  return hash.get();
}
