//===- JoinKernels.cpp - Fusion of two kernels into one ---------------------------------------===//

#include "passes/kernels/JoinKernels.h"

#include "ir/builders/KernelBuilder.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Returns whether each load by `second` of a result of `first` reads the element that `first`
/// computes in the same iteration. A column sum is complete only after the last iteration.
bool readsAtSameIteration(KernelOp first, KernelOp second, const CommonSpace &common) {
  Block &body = second.getBody().front();
  for (auto [input, argument] : llvm::zip_equal(second.getInputs(), body.getArguments())) {
    Value root = rootOf(input);
    if (root.getDefiningOp() != first)
      continue;
    auto to = cast<RankedTensorType>(input.getType()),
         from = cast<RankedTensorType>(root.getType());
    if (to.getElementType() != from.getElementType() ||
        yieldOf(first).isColumnSum(cast<OpResult>(root).getResultNumber()) ||
        isReadByRows(argument))
      return false;
    AffineMap stored =
        common.rewrite(storedAt(first, cast<OpResult>(root).getResultNumber()), common.first);
    for (KernelLoadOp load : loadsOf(argument)) {
      if (load.getGuard() || !load.getSymbols().empty())
        return false;
      AffineMap map = common.rewrite(load.getMap(), common.second);
      if (to.getShape() != from.getShape())
        map = reshapeMap(map, to.getShape(), from.getShape(), common.space);
      if (map != stored)
        return false;
    }
  }
  return true;
}

/// Returns whether one of a kernel's column sums is over a dim along which the fused kernel reduces
/// rows, but this kernel does not.
bool sumsAlongRows(KernelOp kernel, const CommonSpace &common, ArrayRef<AffineExpr> dims) {
  return llvm::any_of(yieldOf(kernel).getAdded(), [&](int64_t sum) {
    AffineMap stored = common.rewrite(storedAt(kernel, sum), dims);
    return llvm::any_of(llvm::enumerate(dims), [&](auto dim) {
      return !llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim.index())) &&
             llvm::any_of(common.reduced, [&](int64_t d) {
               return dim.value().isFunctionOfDim(d) && !stored.isFunctionOfDim(d);
             });
    });
  });
}

/// Returns whether the fused kernel would have fewer rows than threads to share them. A fused
/// kernel that reduces distributes only whole rows over the threads. Fusion is least useful for two
/// kernels without rows, because a GPU has thousands of threads for their iterations.
bool rowsAreTooFew(KernelOp first, KernelOp second, const CommonSpace &common) {
  const bool noneHasRows = first.getReduced().empty() && second.getReduced().empty();
  const int64_t enoughRows = noneHasRows ? 256 : 64;
  constexpr int64_t iterationsOfOneThread = 1 << 16;
  if (common.reduced.empty() || (!first.getReduced().empty() && !second.getReduced().empty()))
    return false;
  int64_t rows = 1, iterations = 1;
  for (auto [d, extent] : llvm::enumerate(common.space)) {
    iterations *= extent;
    if (!llvm::is_contained(common.reduced, d))
      rows *= extent;
  }
  return rows < enoughRows && iterations > iterationsOfOneThread;
}

int64_t resultBytes(KernelOp kernel) {
  int64_t bytes = 0;
  for (Type type : kernel->getResultTypes())
    bytes += byteSize(cast<RankedTensorType>(type));
  return bytes;
}

/// Returns whether the results are so small, compared to the operands, that longer live ranges are
/// free.
bool givesLittle(KernelOp kernel) {
  int64_t read = 0;
  for (Value input : kernel.getInputs())
    read += byteSize(cast<RankedTensorType>(input.getType()));
  return resultBytes(kernel) * 16 <= read;
}

/// Returns whether the second kernel can be moved up to the first. Large results must not become
/// live across library calls.
bool canMoveUp(KernelOp first, KernelOp second, const UserIndex &index) {
  for (Value input : second.getInputs()) {
    Operation *source = rootOf(input).getDefiningOp();
    if (source && source != first && index.isBefore(first, source))
      return false;
  }
  return givesLittle(second) || !index.hasCallBetween(first, second);
}

/// Returns whether fusion would extend the live range of an operand of `first` to `second`,
/// although the operand is larger than the results of `first`.
bool wouldLiveLonger(Value value, KernelOp first, KernelOp second, const UserIndex &index) {
  Value root = rootOf(value);
  Operation *source = root.getDefiningOp();
  if (!source || isOfVariable(root) ||
      byteSize(cast<RankedTensorType>(root.getType())) <= resultBytes(first))
    return false;
  return !index.isReadFrom(root, second);
}

bool canMoveDown(KernelOp first, KernelOp second, const UserIndex &index) {
  if (llvm::any_of(first.getInputs(),
                   [&](Value input) { return wouldLiveLonger(input, first, second, index); }))
    return false;
  auto isReadBefore = [&](Value result) { return index.isReadBefore(result, second); };
  return llvm::none_of(first->getResults(), isReadBefore) && !index.hasCallBetween(first, second);
}

/// Moves the views between a value and its root before `op`.
void moveViewsBefore(Value value, Operation *op, UserIndex &index) {
  Operation *view = value.getDefiningOp();
  if (!view || !view->hasTrait<mtc::View>() || index.isBefore(view, op))
    return;
  moveViewsBefore(view->getOperand(0), op, index);
  index.moveViewBefore(view, op);
}

/// Moves the views of an operation's results after `op` if they precede it.
void moveViewsAfter(Value value, Operation *op, UserIndex &index) {
  for (Operation *user : llvm::to_vector(value.getUsers()))
    if (user->hasTrait<mtc::View>()) {
      if (index.isBefore(user, op))
        index.moveViewAfter(user, op);
      moveViewsAfter(user->getResult(0), user, index);
    }
}

/// Moves a kernel's body into the fused kernel, over the common iteration space.
class BodyMover {
public:
  BodyMover(KernelOp joined, const CommonSpace &common) : joined(joined), common(common) {}

  /// Moves the operations of the body except the terminator, and returns the kernel's results;
  /// `known` maps loads to existing values.
  SmallVector<Value> move(KernelOp kernel, ArrayRef<AffineExpr> dims,
                          const DenseMap<Operation *, Value> &known) {
    Block &body = kernel.getBody().front(), &target = joined.getBody().front();
    SmallVector<Value> arguments = shareInputs(kernel, joined);
    for (auto [from, to] : llvm::zip_equal(body.getArguments(), arguments))
      from.replaceAllUsesWith(to);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
      if (Value value = known.lookup(&op)) {
        op.getResult(0).replaceAllUsesWith(value);
        op.erase();
        continue;
      }
      op.moveBefore(&target, target.end());
      if (auto load = dyn_cast<KernelLoadOp>(op))
        load.setMap(common.rewrite(load.getMap(), dims));
      else if (auto sum = dyn_cast<KernelAddRowsOp>(op))
        sum.setMap(common.rewrite(sum.getMap(), dims));
      else if (auto index = dyn_cast<KernelIndexOp>(op))
        index.setMap(common.rewrite(index.getMap(), dims));
    }
    return SmallVector<Value>(yieldOf(kernel).getValues());
  }

private:
  KernelOp joined;
  const CommonSpace &common;
};

} // namespace

std::optional<Joint> mtc::findJoint(KernelOp first, KernelOp second, const KernelLimits &limits,
                                    const UserIndex &index, StringRef &reason) {
  reason = exceedsLimits(first, second, limits);
  if (!reason.empty())
    return std::nullopt;
  for (KernelOp kernel : {first, second})
    if (kernel.getShape() == FusibleShape::Scatter) {
      reason = "one of the kernels adds at computed indices";
      return std::nullopt;
    }
  if ((first.getShape() == FusibleShape::ColumnReduction) !=
      (second.getShape() == FusibleShape::ColumnReduction)) {
    reason = "the kernels reduce columns in different orders";
    return std::nullopt;
  }
  std::optional<CommonSpace> common = findCommonSpace(first, second);
  if (!common) {
    reason = "the kernels have different iteration spaces";
    return std::nullopt;
  }
  if (rowsAreTooFew(first, second, *common)) {
    reason = "too few rows for the threads to share";
    return std::nullopt;
  }
  if (sumsAlongRows(first, *common, common->first) ||
      sumsAlongRows(second, *common, common->second)) {
    reason = "a reduction runs along the rows";
    return std::nullopt;
  }
  if (!readsAtSameIteration(first, second, *common)) {
    reason = "the user needs elements of other iterations";
    return std::nullopt;
  }
  if (!index.areOnOneSideOfSends(first, second)) {
    reason = "a message to a later stage is between the kernels";
    return std::nullopt;
  }
  Joint joint{std::move(*common)};
  joint.standsAtFirst = canMoveUp(first, second, index);
  if (!joint.standsAtFirst && !canMoveDown(first, second, index)) {
    reason = "other operations are between the kernels";
    return std::nullopt;
  }
  return joint;
}

KernelOp mtc::joinKernels(KernelOp first, KernelOp second, const Joint &joint, UserIndex &index) {
  const CommonSpace &common = joint.space;
  Operation *place = joint.standsAtFirst ? first : second;
  SmallVector<Type> types(second->getResultTypes());
  SmallVector<OpResult> kept;
  int64_t positionOfSecond = index.remove(second);
  for (OpResult result : first->getResults()) {
    if (!index.isRead(result))
      continue;
    kept.push_back(result);
    types.push_back(result.getType());
  }
  int64_t positionOfFirst = index.remove(first);

  OpBuilder builder(place);
  auto loc = FusedLoc::get(builder.getContext(), {first.getLoc(), second.getLoc()});
  auto joined = KernelOp::create(builder, loc, types, common.space, common.reduced,
                                 common.iterations, ValueRange());
  joined->setDiscardableAttrs(second->getDiscardableAttrDictionary());
  joined.getBody().emplaceBlock();
  BodyMover mover(joined, common);
  SmallVector<Value> firstValues = mover.move(first, common.first, DenseMap<Operation *, Value>());
  DenseMap<Operation *, Value> known;
  for (auto [i, input] : llvm::enumerate(second.getInputs())) {
    Value root = rootOf(input);
    if (root.getDefiningOp() != first)
      continue;
    for (KernelLoadOp load : loadsOf(second.getBody().front().getArgument(i)))
      known[load] = firstValues[cast<OpResult>(root).getResultNumber()];
  }
  SmallVector<Value> values = mover.move(second, common.second, known);

  SmallVector<Attribute> maps;
  SmallVector<int64_t> added;
  auto addMap = [&](KernelOp kernel, unsigned result, ArrayRef<AffineExpr> dims) {
    if (yieldOf(kernel).isAdded(result))
      added.push_back(maps.size());
    maps.push_back(AffineMapAttr::get(common.rewrite(storedAt(kernel, result), dims)));
  };
  for (unsigned i = 0; i < second->getNumResults(); ++i)
    addMap(second, i, common.second);
  for (OpResult result : kept) {
    values.push_back(firstValues[result.getResultNumber()]);
    addMap(first, result.getResultNumber(), common.first);
  }
  builder.setInsertionPointToEnd(&joined.getBody().front());
  KernelYieldOp::create(builder, loc, values, builder.getArrayAttr(maps), ValueRange(), added,
                        /*onto=*/Value());

  eraseUnread(joined); // Operands without loads are removed.
  // One kernel may read a value, and the other one a view of the value.
  for (unsigned i = 0; i < joined.getInputs().size(); ++i)
    while (readThroughView(joined, i)) {
    }

  unsigned own = second->getNumResults();
  second->replaceAllUsesWith(joined->getResults().take_front(own));
  second.erase();
  for (Value result : first->getResults())
    eraseUnreadViewsOf(result);
  for (auto [i, result] : llvm::enumerate(kept))
    result.replaceAllUsesWith(joined->getResult(own + i));
  first.erase();
  index.insert(joined, joint.standsAtFirst ? positionOfFirst : positionOfSecond);
  for (Value input : joined.getInputs())
    moveViewsBefore(input, joined, index);
  for (Value result : joined->getResults())
    moveViewsAfter(result, joined, index);
  return joined;
}
