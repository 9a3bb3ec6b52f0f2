//===- FuseKernels.cpp - Which kernels become one ---------------------------------------------===//
//
// Knows shapes of kernels, not operators. Three steps: elementwise producers move to where their
// results are read; then kernels that compute the same points or rows become one, a producer with
// its readers first, then kernels that read the same values.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/kernels/JoinKernels.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/ProducerInliner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace mtc {
#define GEN_PASS_DEF_FUSEKERNELS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

int64_t bytesOf(Value value) { return byteSize(cast<RankedTensorType>(value.getType())); }

class FuseKernelsPass : public mtc::impl::FuseKernelsBase<FuseKernelsPass> {
public:
  using FuseKernelsBase::FuseKernelsBase;

private:
  void runOnOperation() override {
    limits = {maxInputs, maxOperations};
    mayComputeTwice = false;
    inlineProducers();
    mayComputeTwice = true; // Only now do cheap producers read what they are computed from.
    inlineProducers();
    hoistSmallKernels();
    // First where much is saved: a small kernel that has joined two others stands between them.
    joinAll(/*minBytes=*/1 << 20);
    joinAll(/*minBytes=*/0);
    remarkOnBoundaries();
  }

  /// Readers before producers: what has moved into a reader then moves further up.
  SmallVector<KernelOp> kernelsFromTheEnd() {
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    std::reverse(kernels.begin(), kernels.end());
    return kernels;
  }

  //===----------------------------------------------------------------------------------------===//
  // Elementwise producers
  //===----------------------------------------------------------------------------------------===//

  void inlineProducers() {
    llvm::SmallPtrSet<Operation *, 16> erased;
    for (KernelOp reader : kernelsFromTheEnd()) {
      if (erased.contains(reader))
        continue;
      for (unsigned i = 0; i < reader.getInputs().size();) {
        if (readThroughView(reader, i))
          continue; // What was behind the view may be a view, or a producer.
        // A sum of x * x, which a kernel of few rows cannot be joined with, reads x once.
        if (!reader.getReduced().empty())
          mergeLoads(reader.getBody().front().getArgument(i));
        auto producer = reader.getInputs()[i].getDefiningOp<KernelOp>();
        if (!producer || !refuseInlining(producer, reader, i).empty()) {
          ++i;
          continue;
        }
        inlineProducer(producer, reader, i);
        if (producer->use_empty()) {
          erased.insert(producer);
          producer.erase();
        }
        i = 0; // Inputs have moved.
      }
    }
  }

  /// The reason why a producer stays apart; empty if it need not.
  StringRef refuseInlining(KernelOp producer, KernelOp reader, unsigned input) {
    unsigned result = cast<OpResult>(reader.getInputs()[input]).getResultNumber();
    if (reader.getBody().front().getArgument(input) == yieldOf(reader).getOnto())
      return "the user accumulates onto it";
    if (producer.getShape() != FusibleShape::Elementwise)
      return "the producer is not elementwise";
    if (!canInline(producer, result))
      return "the producer stores several iterations at one index";
    if (readsLittleOfMuch(producer))
      return "a large operand would stay live for the few elements that are read";
    bool moves = onlyMoves(producer);
    if (onlyNarrows(producer))
      return "its result is smaller than its operands";
    if (onlyDecodes(producer))
      return exceedsLimits(producer, reader, limits);
    bool isShared =
        llvm::any_of(producer->getUsers(), [&](Operation *user) { return user != reader; });
    if (isShared && (moves ? reader.getShape() != FusibleShape::Elementwise
                           : !mayComputeTwice || !isWorthComputingTwice(producer)))
      return "its result has other users";
    if (!moves && computesTooManyPoints(producer, reader))
      return "its elements would be computed several times";
    SmallVector<KernelLoadOp> loads = loadsOf(reader.getBody().front().getArgument(input));
    if (!moves && loads.size() > 1)
      return "the user reads it at several indices";
    bool isGathered =
        llvm::any_of(loads, [](KernelLoadOp load) { return !load.getSymbols().empty(); });
    if (isGathered && !producer.getBody().front().getOps<KernelIndexOp>().empty())
      return "it depends on an index at which the user gathers";
    return exceedsLimits(producer, reader, limits);
  }

  /// Whether a kernel reads some elements of a large value that is computed, as a lookup does:
  /// alone it costs nothing, and the value may die.
  static bool readsLittleOfMuch(KernelOp kernel) {
    int64_t computed = 0;
    for (Value input : kernel.getInputs()) {
      Operation *source = rootOf(input).getDefiningOp();
      if (source && !isOfVariable(input))
        computed += bytesOf(input);
    }
    return computed > 16 * kernel.getCost().bytes;
  }

  /// A few points more, as padding has, are worth a pass over memory less.
  static bool computesTooManyPoints(KernelOp producer, KernelOp reader) {
    return pointsOf(reader) > pointsOf(producer) * 3 / 2;
  }

  /// Whether every reader of a cheap result had better compute it: no more memory is read than its
  /// own, and it need not be written.
  bool isWorthComputingTwice(KernelOp producer) {
    constexpr unsigned maxOperations = 8, maxReaders = 4;
    if (producer->getNumResults() != 1)
      return false;
    unsigned operations = 0;
    for (Operation &op : producer.getBody().front()) {
      if (isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp>(op))
        return false;
      operations += isa<arith::ArithDialect>(op.getDialect());
    }
    int64_t inputBytes = 0;
    for (Value input : producer.getInputs())
      inputBytes += bytesOf(input);
    if (operations > maxOperations || inputBytes > bytesOf(producer->getResult(0)) * 5 / 4)
      return false;
    llvm::SmallSetVector<Operation *, 4> readers;
    for (Operation *user : producer->getUsers())
      if (readers.insert(user) && readers.size() > maxReaders)
        return false;
    return llvm::all_of(readers, [&](Operation *op) {
      auto reader = dyn_cast<KernelOp>(op);
      if (!reader || computesTooManyPoints(producer, reader) ||
          !exceedsLimits(producer, reader, limits).empty())
        return false;
      return llvm::all_of(
          llvm::zip_equal(reader.getInputs(), reader.getBody().front().getArguments()),
          [&](auto pair) {
            auto [input, argument] = pair;
            return input.getDefiningOp() != producer || argument.hasOneUse();
          });
    });
  }

  //===----------------------------------------------------------------------------------------===//
  // Kernels over the same points or rows
  //===----------------------------------------------------------------------------------------===//

  /// Moves kernels that touch little, beside the largest value, to where their operands are known,
  /// so that what depends on them can join what stands there. Those that read variables stay behind
  /// what reads the old value.
  void hoistSmallKernels() {
    int64_t largest = 0;
    for (auto kernel : getOperation().getOps<KernelOp>())
      for (Value value : kernel->getResults())
        largest = std::max(largest, bytesOf(value));
    // Where an operation stands: its number, or that of the one behind which it was moved, and then
    // in the order in which operations were moved.
    using Position = std::pair<int64_t, int64_t>;
    DenseMap<Operation *, Position> positions;
    for (Operation &op : getOperation().front())
      positions[&op] = {positions.size(), 0};
    DenseMap<int64_t, Operation *> lastMoved; // Behind the operation of this number.
    int64_t count = 0;
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      Operation *last = nullptr;
      Position position = {-1, 0};
      bool isFree = !kernel->hasAttr(recomputedAttribute);
      for (Value value : kernel->getOperands()) {
        Operation *source = value.getDefiningOp();
        isFree &= !isOfVariable(value);
        if (source && positions.at(source) > position) {
          last = source;
          position = positions.at(source);
        }
      }
      if (!isFree || kernel.getCost().bytes > largest / 256)
        continue;
      Operation *&moved = lastMoved[position.first];
      if (moved || last)
        kernel->moveAfter(moved ? moved : last);
      else
        kernel->moveBefore(&kernel->getBlock()->front());
      moved = kernel;
      positions[kernel] = {position.first, ++count};
    }
  }

  void joinAll(int64_t minBytes) {
    ReaderIndex index(getOperation().front());
    llvm::SmallPtrSet<Operation *, 16> erased;
    for (KernelOp kernel : kernelsFromTheEnd()) {
      if (erased.contains(kernel))
        continue;
      while (std::optional<Partner> partner = findPartner(kernel, minBytes, index)) {
        erased.insert(partner->kernel);
        erased.insert(kernel);
        kernel = joinKernels(partner->kernel, kernel, partner->joint, index);
        remark::passed(kernel.getLoc(), remark::RemarkOpts::name("joined").category(categoryName))
            << remark::metric("inputs", kernel.getInputs().size())
            << remark::metric("results", kernel->getNumResults());
      }
    }
  }

  struct Partner {
    KernelOp kernel;
    Joint joint;
  };

  std::optional<Partner> asPartner(KernelOp candidate, KernelOp kernel, const ReaderIndex &index) {
    StringRef reason;
    if (std::optional<Joint> joint = findJoint(candidate, kernel, limits, index, reason))
      return Partner{candidate, std::move(*joint)};
    return std::nullopt;
  }

  /// A kernel in front of `kernel` that can be joined with it, and is worth it: one that it reads,
  /// or one that reads a large value that it reads too. Less than `minBytes` is not worth it.
  std::optional<Partner> findPartner(KernelOp kernel, int64_t minBytes, const ReaderIndex &index) {
    llvm::SmallSetVector<Value, 8> roots;
    for (Value input : kernel.getInputs())
      if (bytesOf(input) >= minBytes)
        roots.insert(rootOf(input));
    for (Value root : llvm::reverse(roots))
      if (auto producer = root.getDefiningOp<KernelOp>())
        if (std::optional<Partner> partner = asPartner(producer, kernel, index))
          return partner;
    if (readsLittleOfMuch(kernel))
      return std::nullopt;
    for (Value root : roots) {
      if (cast<RankedTensorType>(root.getType()).getNumElements() * 2 < pointsOf(kernel))
        continue;
      for (KernelOp sibling : index.kernelsBefore(root, kernel, maxSiblings))
        if (std::optional<Partner> partner = asPartner(sibling, kernel, index))
          if (!readsLittleOfMuch(sibling))
            return partner;
    }
    return std::nullopt;
  }

  //===----------------------------------------------------------------------------------------===//
  // Remarks
  //===----------------------------------------------------------------------------------------===//

  /// Says of each value that still passes from kernel to kernel through memory why it does.
  void remarkOnBoundaries() {
    if (!getContext().getRemarkEngine())
      return;
    ReaderIndex index(getOperation().front());
    for (auto reader : getOperation().getOps<KernelOp>())
      for (auto [i, input] : llvm::enumerate(reader.getInputs())) {
        auto producer = rootOf(input).getDefiningOp<KernelOp>();
        if (!producer)
          continue;
        StringRef apart, alone = "a view is between them";
        if (input.getDefiningOp() == producer)
          alone = refuseInlining(producer, reader, i);
        findJoint(producer, reader, limits, index, apart);
        remark::missed(reader.getLoc(),
                       remark::RemarkOpts::name("not-fused").category(categoryName))
            << remark::reason("in the user: {0}; as one kernel: {1}", alone, apart)
            << remark::metric("bytes", bytesOf(input));
      }
  }

  static constexpr StringLiteral categoryName = "mtc-fuse-kernels";
  /// Of the kernels that read a value, which may be as many as there are parameters, so many are
  /// tried: those that stand nearest.
  static constexpr unsigned maxSiblings = 32;
  KernelLimits limits;
  bool mayComputeTwice = false;
};

} // namespace
