//===- KeyMask.cpp - Integer masks of onnxruntime's attention operators -----------------------===//

#include "frontend/onnx/operators/support/KeyMask.h"

#include "frontend/onnx/dialect/Shapes.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

LogicalResult checkKeyMask(Inference &node, size_t i, const ScoreShape &scores, bool allowsBounds) {
  if (!node.has(i))
    return success();
  auto [batch, heads, length, keys] = scores;
  ArrayRef<int64_t> shape = node.shape(i);
  SmallVector<Extents> allowed{{batch}, {batch, keys}, {batch, length, keys}};
  if (allowsBounds)
    allowed.push_back({2 * batch});
  bool isSquare = shape.size() == 4 && shape[0] == batch && shape[1] == 1 && shape[2] == shape[3] &&
                  shape[2] >= keys;
  if (llvm::is_contained(allowed, Extents(shape)) || (allowsBounds && isSquare))
    return success();
  if (shape == ArrayRef<int64_t>(3 * batch + 2))
    return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(shape) +
                        ": cumulative lengths are not supported; expected the number of keys, " +
                        shapeText(batch) + ", or a mask " + shapeText({batch, keys}));
  return node.failure(
      Twine(node.operandName(i)) + " has shape " + shapeText(shape) + ", expected one of " +
      llvm::join(llvm::map_range(allowed, [](ArrayRef<int64_t> each) { return shapeText(each); }),
                 ", "));
}

LogicalResult checkScoreBias(Inference &node, size_t i, const ScoreShape &scores) {
  if (!node.has(i))
    return success();
  Extents expected{scores.batch, scores.heads, scores.length, scores.keys};
  ArrayRef<int64_t> shape = node.shape(i);
  bool fits = shape.size() == 4 && shape.take_back(2) == ArrayRef(expected).take_back(2);
  for (size_t axis = 0; fits && axis < 2; ++axis)
    fits = shape[axis] == 1 || shape[axis] == expected[axis];
  if (fits)
    return success();
  return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(shape) +
                      ", expected " + shapeText(expected) + ", where axes 0 and 1 may be 1");
}

/// Returns the keys that are attended to: a boolean tensor with four axes that broadcasts to the
/// scores.
static Value attendedKeys(TensorBuilder &b, Value mask, const ScoreShape &scores) {
  auto [batch, heads, length, keys] = scores;
  ArrayRef<int64_t> shape = shapeOf(mask);
  if (shape.size() == 1) {
    auto type = RankedTensorType::get({batch, keys}, typeOf(mask).getElementType());
    Value position = b.iota(type, 1);
    auto bound = [&](int64_t first) {
      return b.broadcast(b.slice(mask, first, batch, 1), {1}, type.getShape());
    };
    Value kept = b.compare(Predicate::Lt, position, bound(0));
    if (shape[0] == 2 * batch)
      kept = b.logicalAnd(kept, b.compare(Predicate::Ge, position, bound(batch)));
    return b.reshape(kept, {batch, 1, 1, keys});
  }
  if (shape.size() == 4)
    mask = b.slice(mask, {0, 0, 0, 0}, {batch, 1, length, keys}, {1, 1, 1, 1});
  else
    mask = b.reshape(mask, {batch, 1, shape.size() == 2 ? 1 : length, keys});
  return b.compare(Predicate::Gt, mask, b.splat(mask, 0.0));
}

void addKeyMask(Conversion &node, size_t i, const ScoreShape &scores,
                DotProductAttention &attention) {
  double filter = node.floating("mask_filter_value", -10000.0);
  if (!node.has(i))
    return;
  TensorBuilder &b = node.b;
  Value kept = attendedKeys(b, node.value(i), scores);
  auto type = RankedTensorType::get(shapeOf(kept), node.elementType(0));
  attention.biases.push_back(b.select(kept, b.splat(type, 0.0), b.splat(type, filter)));
}

double readScale(NodeView &node, int64_t size) {
  double scale = node.floating("scale", 0.0);
  return scale != 0 ? scale : 1.0 / std::sqrt(static_cast<double>(size));
}

LogicalResult refuseOperand(NodeView &node, size_t i, StringRef reason) {
  if (!node.has(i))
    return success();
  return node.failure(Twine(node.operandName(i)) + " is not supported: " + reason);
}

LogicalResult refuseAttribute(NodeView &node, StringRef name, int64_t expected, StringRef reason) {
  int64_t value = node.integer(name, expected);
  if (node.failed())
    return failure();
  if (value == expected)
    return success();
  return node.failure("attribute " + name + " = " + Twine(value) + " is not supported: " + reason);
}

} // namespace mtc::onnx
