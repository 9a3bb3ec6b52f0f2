//===- Random.cpp - Random tensors: types only ------------------------------------------------===//

#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// RandomNormal, RandomUniform: shape and dtype are attributes.
LogicalResult inferRandom(Inference &node) {
  SmallVector<int64_t> shape = node.integers("shape", {});
  return node.result(0, node.elementTypeOf("dtype", Float32Type::get(node.context())), shape);
}

/// RandomNormalLike, RandomUniformLike, Bernoulli: the operand's shape, its element type unless
/// dtype says another.
LogicalResult inferRandomLike(Inference &node) {
  return node.result(0, node.elementTypeOf("dtype", node.elementType(0)), node.shape(0));
}

} // namespace

void registerRandomOperators(Operators &operators) {
  operators.add("RandomNormal", 1, {.infer = inferRandom});
  operators.add("RandomUniform", 1, {.infer = inferRandom});
  operators.add("RandomNormalLike", 1, {.infer = inferRandomLike});
  operators.add("RandomUniformLike", 1, {.infer = inferRandomLike});
  operators.add("Bernoulli", 15, {.infer = inferRandomLike});
}

} // namespace mtc::onnx
