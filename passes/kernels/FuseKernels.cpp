//===- FuseKernels.cpp - Kernel fusion --------------------------------------------------------===//
//
// Depends only on the structure of kernels, not on operators. Elementwise producers are inlined
// into their users first. Then kernels over the same iterations or rows are fused: first each
// producer with its users, then kernels that read the same values.
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

class FuseKernelsPass : public mtc::impl::FuseKernelsBase<FuseKernelsPass> {
public:
  using FuseKernelsBase::FuseKernelsBase;

private:
  void runOnOperation() override {
    limits = {maxInputs, maxOperations};
    mayComputeTwice = false;
    inlineProducers();
    mayComputeTwice = true; // Cheap producers are duplicated only with final operands.
    inlineProducers();
    hoistSmallKernels();
    // Large values are fused first, since fusing small kernels may block larger fusions.
    joinAll(/*minBytes=*/1 << 20);
    joinAll(/*minBytes=*/0);
    remarkOnBoundaries();
  }

  /// Returns kernels in reverse order: after inlining into a user, a producer's own producers
  /// follow.
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
    for (KernelOp consumer : kernelsFromTheEnd()) {
      if (erased.contains(consumer))
        continue;
      for (unsigned i = 0; i < consumer.getInputs().size();) {
        if (readThroughView(consumer, i))
          continue; // The view's source may be a view or a producer.
        // A sum of x * x, for instance, must read x once to absorb its producer; with few rows it
        // could not be fused with the producer otherwise.
        if (!consumer.getReduced().empty())
          mergeLoads(consumer.getBody().front().getArgument(i));
        auto producer = consumer.getInputs()[i].getDefiningOp<KernelOp>();
        if (!producer || !refuseInlining(producer, consumer, i).empty()) {
          ++i;
          continue;
        }
        Operation *inlined = producer;
        if (inlineProducer(producer, consumer, i))
          erased.insert(inlined);
        i = 0; // Operands have moved.
      }
    }
  }

  /// Returns the reason why a producer cannot be inlined; empty if it can.
  StringRef refuseInlining(KernelOp producer, KernelOp consumer, unsigned input) {
    unsigned result = cast<OpResult>(consumer.getInputs()[input]).getResultNumber();
    if (consumer.getBody().front().getArgument(input) == yieldOf(consumer).getOnto())
      return "the user accumulates onto it";
    if (isReadByRows(consumer.getBody().front().getArgument(input)))
      return "the user adds its rows";
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
      return exceedsLimits(producer, consumer, limits);
    bool isShared =
        llvm::any_of(producer->getUsers(), [&](Operation *user) { return user != consumer; });
    if (isShared && (moves ? consumer.getShape() != FusibleShape::Elementwise
                           : !mayComputeTwice || !isWorthComputingTwice(producer)))
      return "its result has other users";
    if (!moves && computesTooManyIterations(producer, consumer))
      return "its elements would be computed several times";
    SmallVector<KernelLoadOp> loads = loadsOf(consumer.getBody().front().getArgument(input));
    if (!moves && loads.size() > 1)
      return "the user reads it at several indices";
    bool isGathered =
        llvm::any_of(loads, [](KernelLoadOp load) { return !load.getSymbols().empty(); });
    if (isGathered && !producer.getBody().front().getOps<KernelIndexOp>().empty())
      return "it depends on an index at which the user gathers";
    if (isGathered && !producer.getBody().front().getOps<KernelAddRowsOp>().empty())
      return "it adds rows, and the user gathers";
    return exceedsLimits(producer, consumer, limits);
  }

  /// Returns whether a kernel reads few elements of a large computed value, as an embedding lookup
  /// does: a separate kernel is cheap and ends the value's live range.
  static bool readsLittleOfMuch(KernelOp kernel) {
    int64_t computed = 0;
    for (Value input : kernel.getInputs()) {
      Operation *source = rootOf(input).getDefiningOp();
      if (source && !isOfVariable(input))
        computed += bytesOf(input);
    }
    // The bytes of the results, part of the cost, are mostly sufficient.
    return computed > 16 * resultBytesOf(kernel) && computed > 16 * kernel.getCost().bytes;
  }

  /// A few additional iterations, as for padding, cost less than a pass over memory. This is also
  /// true for twice the iterations of a producer that spreads small operands over a large result,
  /// such as the gradient of a maximum over all elements of its window.
  static bool computesTooManyIterations(KernelOp producer, KernelOp consumer) {
    constexpr unsigned maxOperations = 12;
    const bool spreads =
        isCheap(producer, maxOperations) && 2 * inputBytesOf(producer) <= resultBytesOf(producer);
    return iterationsOf(consumer) >
           (spreads ? 2 * iterationsOf(producer) : iterationsOf(producer) * 3 / 2);
  }

  static int64_t inputBytesOf(KernelOp kernel) {
    int64_t bytes = 0;
    for (Value input : kernel.getInputs())
      bytes += bytesOf(input);
    return bytes;
  }

  static int64_t resultBytesOf(KernelOp kernel) {
    int64_t bytes = 0;
    for (Value result : kernel->getResults())
      bytes += bytesOf(result);
    return bytes;
  }

  /// Returns whether a kernel computes at most this many arithmetic operations for each element,
  /// none of them slow.
  static bool isCheap(KernelOp kernel, unsigned maxOperations) {
    unsigned operations = 0;
    for (Operation &op : kernel.getBody().front()) {
      if (isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp>(op))
        return false;
      operations += isa<arith::ArithDialect>(op.getDialect());
    }
    return operations <= maxOperations;
  }

  /// Returns whether every user of a cheap result should recompute it: this reads hardly more
  /// memory than the result occupies, and saves writing the result.
  bool isWorthComputingTwice(KernelOp producer) {
    constexpr unsigned maxOperations = 8, maxUsers = 4;
    if (producer->getNumResults() != 1 || !isCheap(producer, maxOperations) ||
        inputBytesOf(producer) > resultBytesOf(producer) * 5 / 4)
      return false;
    llvm::SmallSetVector<Operation *, 4> consumers;
    for (Operation *user : producer->getUsers())
      if (consumers.insert(user) && consumers.size() > maxUsers)
        return false;
    return llvm::all_of(consumers, [&](Operation *op) {
      auto consumer = dyn_cast<KernelOp>(op);
      if (!consumer || computesTooManyIterations(producer, consumer) ||
          !exceedsLimits(producer, consumer, limits).empty())
        return false;
      return llvm::all_of(
          llvm::zip_equal(consumer.getInputs(), consumer.getBody().front().getArguments()),
          [&](auto pair) {
            auto [input, argument] = pair;
            return input.getDefiningOp() != producer || argument.hasOneUse();
          });
    });
  }

  //===----------------------------------------------------------------------------------------===//
  // Kernels over the same iterations or rows
  //===----------------------------------------------------------------------------------------===//

  /// Moves kernels with little memory traffic, compared to the largest value, up to their operands,
  /// so that their users can be fused with kernels there. Kernels that read variables are not
  /// moved, so that they remain after the users of the old value.
  void hoistSmallKernels() {
    int64_t largest = 0;
    for (auto kernel : getOperation().getOps<KernelOp>())
      for (Value value : kernel->getResults())
        largest = std::max(largest, bytesOf(value));
    // The position of an operation: its original number, or for a moved operation the number of the
    // operation that it follows and the order of the moves.
    using Position = std::pair<int64_t, int64_t>;
    DenseMap<Operation *, Position> positions;
    for (Operation &op : getOperation().front())
      positions[&op] = {positions.size(), 0};
    DenseMap<int64_t, Operation *> lastMoved; // By the number of the operation that precedes it.
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
    UserIndex index(getOperation().front());
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

  /// Returns whether independent reductions of two kernels would form a long body, for which a plan
  /// has fewer lanes. The order of summation would then depend on the number of reductions in a
  /// program.
  static bool sumsTogether(KernelOp first, KernelOp second) {
    constexpr int64_t longBody = 60;
    auto reduces = [](KernelOp kernel) {
      return !kernel.getBody().getOps<KernelReduceOp>().empty();
    };
    auto count = [](KernelOp kernel) { return llvm::range_size(kernel.getBody().front()); };
    return reduces(first) && reduces(second) &&
           static_cast<int64_t>(count(first) + count(second)) > longBody;
  }

  struct Partner {
    KernelOp kernel;
    Joint joint;
  };

  std::optional<Partner> asPartner(KernelOp candidate, KernelOp kernel, const UserIndex &index) {
    StringRef reason;
    if (std::optional<Joint> joint = findJoint(candidate, kernel, limits, index, reason))
      return Partner{candidate, std::move(*joint)};
    return std::nullopt;
  }

  /// Returns a kernel before `kernel` that can be fused with it profitably: a producer of an
  /// operand of at least `minBytes`, or a kernel that reads the same large operand.
  std::optional<Partner> findPartner(KernelOp kernel, int64_t minBytes, const UserIndex &index) {
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
      if (cast<RankedTensorType>(root.getType()).getNumElements() * 2 < iterationsOf(kernel))
        continue;
      for (KernelOp sibling : index.kernelsBefore(root, kernel, maxSiblings)) {
        if (sumsTogether(sibling, kernel) || readsLittleOfMuch(sibling))
          continue;
        if (std::optional<Partner> partner = asPartner(sibling, kernel, index))
          return partner;
      }
    }
    return std::nullopt;
  }

  //===----------------------------------------------------------------------------------------===//
  // Remarks
  //===----------------------------------------------------------------------------------------===//

  /// Emits a remark for each value that is still passed between kernels through memory.
  void remarkOnBoundaries() {
    if (!getContext().getRemarkEngine())
      return;
    UserIndex index(getOperation().front());
    for (auto consumer : getOperation().getOps<KernelOp>())
      for (auto [i, input] : llvm::enumerate(consumer.getInputs())) {
        auto producer = rootOf(input).getDefiningOp<KernelOp>();
        if (!producer)
          continue;
        StringRef apart, alone = "a view is between them";
        if (input.getDefiningOp() == producer)
          alone = refuseInlining(producer, consumer, i);
        findJoint(producer, consumer, limits, index, apart);
        remark::missed(consumer.getLoc(),
                       remark::RemarkOpts::name("not-fused").category(categoryName))
            << remark::reason("in the user: {0}; as one kernel: {1}", alone, apart)
            << remark::metric("bytes", bytesOf(input));
      }
  }

  static constexpr StringLiteral categoryName = "mtc-fuse-kernels";
  /// Maximum number of kernels to try among the users of a value, nearest first; there may be as
  /// many users as parameters.
  static constexpr unsigned maxSiblings = 32;
  KernelLimits limits;
  bool mayComputeTwice = false;
};

} // namespace
