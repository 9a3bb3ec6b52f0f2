//===- FlexAttention.cpp - Expansion of FlexAttention -----------------------------------------===//

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/Walk.h"

#include "llvm/Support/ScopedPrinter.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

/// Checks Q [batch, heads, length, size], K [batch, key heads, keys, size] and V [batch, key heads,
/// keys, value size], where the number of heads is a multiple of the number of key heads.
static LogicalResult checkOperands(Inference &node) {
  for (size_t i : {0, 1, 2})
    if (!node.floatElements(i) || !node.hasRank(i, 4, 4) || !node.sameElementType(0, i))
      return failure();
  ArrayRef<int64_t> q = node.shape(0), k = node.shape(1), v = node.shape(2);
  if (q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && k[1] > 0 &&
      q[1] % k[1] == 0)
    return success();
  return node.failure("operands of shapes " + shapeText(q) + ", " + shapeText(k) + ", " +
                      shapeText(v) + " do not match as query, key and value");
}

FailureOr<Value> Expander::modifyScores(Inference &node, StringRef name, Value scores) {
  Region *graph = node.graph(name);
  if (!graph)
    return scores;
  if (failed(checkSignature(node, name, 1, 1)))
    return failure();
  ReturnOp values = inlineGraph(node, *graph, scores);
  if (!values)
    return failure();
  Value result = values.getValues().front();
  if (walk.isUnknown(result))
    return failure();
  if (result.getType() != scores.getType())
    return node.failure("the graph " + name + " returns " + llvm::to_string(result.getType()) +
                        ", expected " + llvm::to_string(scores.getType()));
  return result;
}

/// Expands Y = prob_mod(softmax(score_mod(scale · Q Kᵀ))) V to ai.onnx nodes. Query heads that
/// share a key head are rows of one matrix, so that keys and values are not copied.
LogicalResult Expander::expandFlexAttention(Inference &node) {
  if (failed(checkOperands(node)))
    return failure();
  ArrayRef<int64_t> q = node.shape(0), k = node.shape(1), v = node.shape(2);
  double scale = node.floating("scale", 1.0 / std::sqrt(static_cast<double>(q[3])));
  Type element = node.elementType(0), byDefault = builder.getF32Type();
  Type softmaxType = node.elementTypeOf("softmax_precision", element.isF64() ? element : byDefault);
  if (node.failed())
    return failure();
  if (!Tensor::holds(softmaxType) || !isa<FloatType>(softmaxType))
    return node.failure("attribute softmax_precision is " + llvm::to_string(softmaxType) +
                        ", expected a float type of 16 bits or more");

  auto reshaped = [&](Value x, ArrayRef<int64_t> shape) {
    return create(node, "Reshape", 13, {x, createInts(node, shape)}, {}).getResult(0);
  };
  auto cast = [&](Value x, Type type) -> Value {
    if (softmaxType == element)
      return x;
    return create(node, "Cast", 13, x, intAttribute("to", *elementTypeToOnnx(type))).getResult(0);
  };
  auto multiplied = [&](Value a, Value b) {
    return create(node, "MatMul", 13, {a, b}, {}).getResult(0);
  };
  Value factor =
      createConstant(node, *Tensor::fromValues<double>(RankedTensorType::get({}, element), scale));
  Value query = create(node, "Mul", 13, {node.operand(0), factor}, {}).getResult(0);
  int64_t rows = q[1] / k[1] * q[2];
  NamedAttribute order = builder.getNamedAttr("perm", builder.getDenseI64ArrayAttr({0, 1, 3, 2}));
  Value keys = create(node, "Transpose", 13, node.operand(1), order).getResult(0);
  Value scores = multiplied(reshaped(query, {q[0], k[1], rows, q[3]}), keys);
  scores = cast(reshaped(scores, {q[0], q[1], q[2], k[2]}), softmaxType);
  FailureOr<Value> modified = modifyScores(node, "score_mod", scores);
  if (failed(modified))
    return failure();
  Value softmax = create(node, "Softmax", 13, *modified, intAttribute("axis", 3)).getResult(0);
  FailureOr<Value> weights = modifyScores(node, "prob_mod", softmax);
  if (failed(weights))
    return failure();
  Value grouped = reshaped(cast(*weights, element), {q[0], k[1], rows, k[2]});
  Value y = multiplied(grouped, node.operand(2));
  return replace(node, reshaped(y, {q[0], q[1], q[2], v[3]}));
}

} // namespace mtc::onnx
