//===- Masks.cpp - Analysis of attention masks ------------------------------------------------===//

#include "passes/attention/Masks.h"

#include "ir/builders/Shape.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

std::optional<double> mtc::splatOf(Value value) {
  DenseElementsAttr elements;
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  return static_cast<double>(elements.getSplatValue<APInt>().getSExtValue());
}

static SmallVector<int64_t> withoutUnits(ArrayRef<int64_t> extents) {
  return llvm::filter_to_vector(extents, [](int64_t extent) { return extent != 1; });
}

/// Returns the number of each axis of a transposition among those of its operand. Axes of extent 1
/// do not count.
static SmallVector<int64_t> orderOf(TransposeOp transpose) {
  ArrayRef<int64_t> extents = shapeOf(transpose.getInput());
  SmallVector<int64_t> order;
  for (int64_t source : transpose.getPermutation())
    if (extents[source] != 1)
      order.push_back(
          llvm::count_if(extents.take_front(source), [](int64_t extent) { return extent != 1; }));
  return order;
}

/// transpose(reshape(transpose(x))) => x, if the reshape only inserts and removes axes of extent 1,
/// and the second transposition is the inverse of the first one. Returns null for other values.
static Value beforeInverse(Value value) {
  auto second = value.getDefiningOp<TransposeOp>();
  if (!second)
    return {};
  Value between = second.getInput();
  const SmallVector<int64_t> extents = withoutUnits(shapeOf(between));
  while (auto reshape = between.getDefiningOp<ReshapeOp>())
    between = reshape.getInput();
  auto first = between.getDefiningOp<TransposeOp>();
  if (!first || withoutUnits(shapeOf(between)) != extents)
    return {};
  const SmallVector<int64_t> order = orderOf(first);
  for (auto [i, source] : llvm::enumerate(orderOf(second)))
    if (order[source] != static_cast<int64_t>(i))
      return {};
  return first.getInput();
}

Value mtc::sameElements(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (Value before = beforeInverse(value)) {
      value = before;
      continue;
    }
    if (!isa<ReshapeOp, BroadcastOp>(op) ||
        typeOf(op->getOperand(0)).getNumElements() != typeOf(value).getNumElements())
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool mtc::leavesOut(double number) { return number <= -1e30; }

/// Positions of a batch of long sequences have fewer elements. Comparing more takes too long.
static constexpr int64_t largestFolded = 1 << 22;

/// Returns the elements at index 0 of an axis, the others of which repeat them; nothing if one
/// differs. An axis of `extent` elements with `stride` elements from one index to the next.
template <typename T>
static std::optional<SmallVector<T>> withoutRepeats(ArrayRef<T> values, int64_t extent,
                                                    int64_t stride) {
  SmallVector<T> kept;
  for (; !values.empty(); values = values.drop_front(extent * stride)) {
    ArrayRef<T> first = values.take_front(stride);
    for (int64_t i = 1; i < extent; ++i)
      if (values.slice(i * stride, stride) != first)
        return std::nullopt;
    llvm::append_range(kept, first);
  }
  return kept;
}

/// Shrinks a constant that was folded with its broadcast; null if it varies along the axis.
static Value shrinkConstant(TensorBuilder &b, DenseElementsAttr elements, int64_t axis,
                            RankedTensorType shrunk) {
  if (elements.isSplat())
    return b.constant(elements.resizeSplat(shrunk));
  if (elements.getNumElements() > largestFolded)
    return {};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(elements.getType()).getShape();
  const int64_t stride = rowMajorStrides(shape)[axis];
  // Bytes instead of attributes: a mask of 2048 x 2048 elements is shrunk in every layer.
  if (!shrunk.getElementType().isInteger(1)) {
    const int64_t width = shrunk.getElementTypeBitWidth() / 8;
    auto kept = withoutRepeats(elements.getRawData(), shape[axis], stride * width);
    return kept ? b.constant(DenseElementsAttr::getFromRawBuffer(shrunk, *kept)) : Value();
  }
  SmallVector<bool> values(elements.getValues<bool>());
  auto kept = withoutRepeats(ArrayRef<bool>(values), shape[axis], stride);
  return kept ? b.constant(DenseElementsAttr::get(shrunk, ArrayRef<bool>(*kept))) : Value();
}

/// Returns the value with size 1 along the axis; null if it may vary along the axis.
static Value shrinkAxis(TensorBuilder &b, Value value, int64_t axis) {
  RankedTensorType type = typeOf(value);
  if (type.getDimSize(axis) == 1)
    return value;
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  auto shrunk = RankedTensorType::get(shape, type.getElementType());
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  DenseElementsAttr elements;
  if (matchPattern(op, m_Constant(&elements)))
    return shrinkConstant(b, elements, axis, shrunk);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value input = broadcast.getInput();
    SmallVector<int64_t> kept = otherAxes(type.getRank(), broadcast.getAxes());
    auto below = llvm::find(kept, axis);
    if (below != kept.end())
      input = shrinkAxis(b, input, below - kept.begin());
    return input ? b.broadcast(input, broadcast.getAxes(), shape) : Value();
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(reshape.getInput());
    SmallVector<int64_t> fromStrides = rowMajorStrides(from);
    int64_t stride = rowMajorStrides(type.getShape())[axis];
    for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i)
      if (from[i] == type.getDimSize(axis) && fromStrides[i] == stride) {
        Value input = shrinkAxis(b, reshape.getInput(), i);
        return input ? b.reshape(input, shape) : Value();
      }
    return {};
  }
  if (!isa<ElementwiseOpInterface>(op))
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(shrinkAxis(b, operand, axis));
    if (!operands.back())
      return {};
  }
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(shrunk);
  return copy->getResult(0);
}

Value mtc::shrink(TensorBuilder &b, Value value, ArrayRef<int64_t> axes) {
  for (int64_t axis : axes)
    if (Value smaller = shrinkAxis(b, value, axis))
      value = smaller;
  return value;
}
