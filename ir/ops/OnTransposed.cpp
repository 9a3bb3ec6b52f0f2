//===- OnTransposed.cpp - Operations on transposed operands -----------------------------------===//
//
// Axis a of an operand is axis permutation[a] of the input of its `mtc.transpose`.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mtc;

/// Returns the input of a transpose by `permutation`, or otherwise the value transposed by the
/// inverse permutation.
static Value untransposed(TensorBuilder &b, Value value, ArrayRef<int64_t> permutation) {
  if (auto transpose = value.getDefiningOp<TransposeOp>();
      transpose && transpose.getPermutation() == permutation)
    return transpose.getInput();
  return b.transpose(value, invertPermutationVector(permutation));
}

static SmallVector<Value> untransposed(TensorBuilder &b, ValueRange values,
                                       ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return untransposed(b, value, permutation); });
}

static TransposeOp transposeOf(Operation *op, unsigned operand) {
  return op->getOperand(operand).getDefiningOp<TransposeOp>();
}

/// Permutes per-axis values to the axis order of the transpose's operand.
static SmallVector<int64_t> below(ArrayRef<int64_t> ofAxes, ArrayRef<int64_t> permutation) {
  return pick(ofAxes, invertPermutationVector(permutation));
}

/// Returns the index of each of `axes` in their sorted order.
static SmallVector<int64_t> rankOf(ArrayRef<int64_t> axes) {
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  return llvm::map_to_vector(
      axes, [&](int64_t axis) -> int64_t { return llvm::find(sorted, axis) - sorted.begin(); });
}

TransposedResult mtc::detail::buildElementwiseOnTransposed(Operation *op, TensorBuilder &b,
                                                           unsigned operand) {
  SmallVector<int64_t> permutation(transposeOf(op, operand).getPermutation());
  SmallVector<Value> operands = untransposed(b, op->getOperands(), permutation);
  RankedTensorType type =
      RankedTensorType::get(shapeOf(operands.front()), typeOf(op->getResult(0)).getElementType());
  OperationState state(op->getLoc(), op->getName(), operands, TypeRange(type), op->getAttrs());
  Operation *built = static_cast<OpBuilder &>(b).create(state);
  return {built->getResult(0), permutation};
}

TransposedResult ConcatenateOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  SmallVector<int64_t> permutation(transposeOf(*this, operand).getPermutation());
  return {b.concatenate(untransposed(b, getInputs(), permutation), permutation[getAxis()]),
          permutation};
}

TransposedResult ReverseOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  SmallVector<int64_t> axes = pick(transpose.getPermutation(), getAxes());
  llvm::sort(axes);
  return {b.reverse(transpose.getInput(), axes), SmallVector<int64_t>(transpose.getPermutation())};
}

TransposedResult SliceOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  return {b.slice(transpose.getInput(), below(getOffsets(), permutation),
                  below(getType().getShape(), permutation), below(getStrides(), permutation)),
          SmallVector<int64_t>(permutation)};
}

TransposedResult PadOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  auto type =
      RankedTensorType::get(below(getType().getShape(), permutation), getType().getElementType());
  Value value =
      PadOp::create(b, getLoc(), type, transpose.getInput(), below(getLow(), permutation),
                    below(getHigh(), permutation), below(getInterior(), permutation), getValue());
  return {value, SmallVector<int64_t>(permutation)};
}

/// The new axes keep their positions.
TransposedResult BroadcastOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  SmallVector<int64_t> kept = otherAxes(getType().getRank(), getAxes()),
                       permutation = llvm::to_vector(llvm::seq<int64_t>(getType().getRank()));
  for (auto [axis, source] : llvm::zip_equal(kept, transpose.getPermutation()))
    permutation[axis] = kept[source];
  return {b.broadcast(transpose.getInput(), getAxes(), below(getType().getShape(), permutation)),
          permutation};
}

TransposedResult ReduceOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  SmallVector<int64_t> axes = pick(permutation, getAxes());
  llvm::sort(axes);
  return {b.reduce(getKind(), transpose.getInput(), axes),
          rankOf(pick(permutation, otherAxes(permutation.size(), getAxes())))};
}

/// The tap axes are in the order of the window axes.
TransposedResult WindowsOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  SmallVector<int64_t> permutation(transpose.getPermutation());
  int64_t rank = permutation.size();
  SmallVector<int64_t> order = rankOf(pick(permutation, getAxes())), from(order.size());
  for (auto [i, place] : llvm::enumerate(order))
    from[place] = i;
  ArrayRef<int64_t> shape = getType().getShape();
  Value value = b.windows(transpose.getInput(), pick(pick(permutation, getAxes()), from),
                          pick(pick(shape, getAxes()), from), pick(shape.drop_front(rank), from),
                          pick(getStrides(), from), pick(getDilations(), from));
  for (int64_t place : order)
    permutation.push_back(rank + place);
  return {value, permutation};
}

/// The axes of the indices replace the gathered axis.
TransposedResult GatherOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  if (operand != 0 || getBatch() != 0)
    return {};
  TransposeOp transpose = transposeOf(*this, operand);
  int64_t axis = getAxis(), gathered = transpose.getPermutation()[axis],
          indexAxes = typeOf(getIndices()).getRank();
  SmallVector<int64_t> permutation;
  for (auto [own, source] : llvm::enumerate(transpose.getPermutation()))
    if (static_cast<int64_t>(own) == axis)
      llvm::append_range(permutation, llvm::seq(gathered, gathered + indexAxes));
    else
      permutation.push_back(source < gathered ? source : source + indexAxes - 1);
  return {b.gather(transpose.getInput(), getIndices(), gathered, 0), permutation};
}

TransposedResult ContractOp::buildOnTransposed(TensorBuilder &b, unsigned operand) {
  TransposeOp transpose = transposeOf(*this, operand);
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  bool isLhs = operand == 0;
  SmallVector<int64_t> free = isLhs ? getLhsFree() : getRhsFree();
  Value lhs = isLhs ? transpose.getInput() : getLhs(),
        rhs = isLhs ? getRhs() : transpose.getInput();
  auto moved = [&](bool moves, ArrayRef<int64_t> axes) {
    return moves ? pick(permutation, axes) : SmallVector<int64_t>(axes);
  };
  Value value = b.contract(lhs, rhs, moved(isLhs, getLhsBatch()), moved(!isLhs, getRhsBatch()),
                           moved(isLhs, getLhsContract()), moved(!isLhs, getRhsContract()));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(getType().getRank()));
  int64_t first = getLhsBatch().size() + (isLhs ? 0 : getLhsFree().size());
  for (auto [i, place] : llvm::enumerate(rankOf(pick(permutation, free))))
    order[first + i] = first + place;
  return {value, order};
}
