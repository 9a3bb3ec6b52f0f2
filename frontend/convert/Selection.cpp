//===- Selection.cpp - The largest elements and where they are; triangles ---------------------===//

#include "frontend/convert/Converters.h"
#include "frontend/convert/Indices.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The k largest (or smallest) elements along an axis, in order, and their indices.
std::pair<Value, Value> topK(TensorBuilder &b, Value x, int64_t axis, int64_t k, bool smallest) {
  int64_t rank = typeOf(x).getRank();
  Value moved = b.transpose(x, axisLast(rank, axis));
  SmallVector<int64_t> shape(shapeOf(moved));
  shape.back() = k;
  auto op = TopKOp::create(b, RankedTensorType::get(shape, typeOf(x).getElementType()),
                           RankedTensorType::get(shape, b.getI64Type()), moved, smallest);
  SmallVector<int64_t> back = axisBack(rank, axis);
  return {b.transpose(op.getValues(), back), b.transpose(op.getIndices(), back)};
}

/// The result's extent is k, which is an attribute before version 10 and an operand since. Unsorted
/// results may come in any order, so in this one too.
LogicalResult convertTopK(Conversion &node) {
  int64_t axis = node.axis("axis", -1, node.rank(0));
  bool largest = node.flag("largest", true);
  if (node.failed())
    return failure();
  int64_t k = node.resultType(node.wants(0) ? 0 : 1).getDimSize(axis);
  auto [values, indices] = topK(node.b, node.value(0), axis, k, !largest);
  return success(succeeded(node.result(0, values)) && succeeded(node.result(1, indices)));
}

/// The index of the extreme element: the first of equal ones, or with `select_last_index` the last,
/// which is the first of the reversed axis.
LogicalResult convertArgExtremum(Conversion &node, bool smallest) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  bool last = node.flag("select_last_index", false);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = last ? b.reverse(node.value(0), {axis}) : node.value(0);
  Value index = topK(b, x, axis, 1, smallest).second;
  if (last)
    index = b.sub(b.splat(index, node.dim(0, axis) - 1), index);
  return node.result(0, b.reshape(index, node.resultShape()));
}

/// 1 at the first maximum along the axis, 0 elsewhere. Before version 13 all axes from `axis` on
/// are one.
LogicalResult convertHardmax(Conversion &node) {
  int64_t rank = node.rank(0), axis = node.axis("axis", node.version() < 13 ? 1 : -1, rank);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (node.version() < 13) {
    int64_t rows = ShapedType::getNumElements(node.shape(0).take_front(axis));
    x = b.reshape(x, {rows, node.type(0).getNumElements() / rows});
    axis = 1;
  }
  Value index = topK(b, x, axis, 1, /*smallest=*/false).second;
  Value place = b.iota(RankedTensorType::get(shapeOf(x), b.getI64Type()), axis);
  Value isHot = b.compare(Predicate::Eq, b.broadcastTo(index, shapeOf(x)), place);
  return node.result(
      0, b.reshape(b.select(isHot, b.splat(x, 1.0), b.splat(x, 0.0)), node.resultShape()));
}

/// Keeps the upper (or lower) triangle of the last two axes, from the k-th diagonal on, and zeroes
/// the rest.
LogicalResult convertTrilu(Conversion &node) {
  bool upper = node.flag("upper", true);
  int64_t k = 0;
  if (node.has(1)) {
    auto given = node.constantInts(1);
    if (!given)
      return node.needsConstant(1);
    k = given->front();
  }
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  auto type = RankedTensorType::get(node.shape(0).take_back(2), b.getI64Type());
  Value distance = b.sub(b.iota(type, 1), b.iota(type, 0));
  Value kept = b.compare(upper ? Predicate::Ge : Predicate::Le, distance, b.splat(distance, k));
  return node.result(0, b.select(b.broadcastTo(kept, node.shape(0)), x, b.splat(x, 0.0)));
}

} // namespace

void registerSelectionConverters(Converters &converters) {
  converters.add("TopK", 1, convertTopK);
  converters.add("ArgMax", 1, [](Conversion &node) { return convertArgExtremum(node, false); });
  converters.add("ArgMin", 1, [](Conversion &node) { return convertArgExtremum(node, true); });
  converters.add("Hardmax", 1, convertHardmax);
  converters.add("Trilu", 14, convertTrilu);
}

} // namespace mtc::onnx
