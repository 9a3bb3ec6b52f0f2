//===- Random.cpp - Random number operators ---------------------------------------------------===//
//
// Random numbers come from `mtc.random_bits`, a function of the program's seed, the step and the
// node, so nothing is saved for the backward pass. Attribute `seed`, which the standard permits
// runtimes to ignore, is ignored: the program's seed makes runs reproducible.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/RandomNumbers.h"
#include "ir/builders/Shape.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace mtc::onnx {

Value randomBits(Conversion &node, ArrayRef<int64_t> shape) {
  TensorBuilder &b = node.b;
  Program &program = node.program();
  auto type = RankedTensorType::get(shape, b.getI32Type());
  return RandomBitsOp::create(b, type, program.readScalar(RuntimeScalar::Seed, node.location()),
                              program.readScalar(RuntimeScalar::Step, node.location()),
                              program.nextRandomStream());
}

Value randomUniform(Conversion &node, ArrayRef<int64_t> shape) {
  TensorBuilder &b = node.b;
  Value bits = b.cast(randomBits(node, shape), b.getF32Type());
  Value number = b.add(b.mul(bits, b.splat(bits, std::ldexp(1.0, -32))), b.splat(bits, 0.5));
  // The largest bit patterns round to 1.
  return b.min(number, b.splat(number, 1 - std::ldexp(1.0, -24)));
}

namespace {

//===--- RandomUniform, RandomNormal ----------------------------------------------------------===//

/// RandomNormal and RandomUniform: shape and dtype are attributes.
LogicalResult inferRandom(Inference &node) {
  SmallVector<int64_t> shape = node.integers("shape", {});
  return node.result(0, node.elementTypeOf("dtype", Float32Type::get(node.context())), shape);
}

/// RandomNormalLike, RandomUniformLike and Bernoulli: the operand's shape, and its element type
/// unless dtype specifies another.
LogicalResult inferRandomLike(Inference &node) {
  return node.result(0, node.elementTypeOf("dtype", node.elementType(0)), node.shape(0));
}

LogicalResult checkFloats(Conversion &node) {
  if (isa<FloatType>(node.resultType().getElementType()))
    return success();
  return node.failure("samples integers, expected a floating-point type");
}

/// low + (high - low) u.
LogicalResult convertUniform(Conversion &node) {
  double low = node.floating("low", 0), high = node.floating("high", 1);
  if (failed(checkFloats(node)) || node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value u = randomUniform(node, node.resultShape());
  Value y = b.add(b.mul(u, b.splat(u, high - low)), b.splat(u, low));
  return node.result(0, b.cast(y, node.resultType().getElementType()));
}

/// mean + scale · sqrt(-2 ln(1 - u)) cos(2πv) (Box and Muller, "A note on the generation of random
/// normal deviates", 1958).
LogicalResult convertNormal(Conversion &node) {
  double mean = node.floating("mean", 0), scale = node.floating("scale", 1);
  if (failed(checkFloats(node)) || node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value u = randomUniform(node, node.resultShape()), v = randomUniform(node, node.resultShape());
  Value radius = b.sqrt(b.mul(b.log1p(b.neg(u)), b.splat(u, -2.0)));
  Value z = b.mul(radius, b.cos(b.mul(v, b.splat(v, 2 * std::numbers::pi))));
  Value y = b.add(b.mul(z, b.splat(z, scale)), b.splat(z, mean));
  return node.result(0, b.cast(y, node.resultType().getElementType()));
}

//===--- Bernoulli ----------------------------------------------------------------------------===//

/// 1 with the probability in the operand. The gradient is 0.
LogicalResult convertBernoulli(Conversion &node) {
  TensorBuilder &b = node.b;
  Value probability = b.cast(node.value(0), b.getF32Type());
  Value isOne = b.compare(Predicate::Lt, randomUniform(node, node.shape(0)), probability);
  return node.result(0, b.cast(isOne, node.resultType().getElementType()));
}

//===--- Multinomial --------------------------------------------------------------------------===//

/// Unnormalized log-probabilities [N, classes], result [N, samples].
LogicalResult inferMultinomial(Inference &node) {
  int64_t samples = node.integer("sample_size", 1);
  if (!node.hasRank(0, 2, 2) || node.failed())
    return failure();
  if (samples < 1 || node.dim(0, 1) < 1)
    return node.failure("draws " + Twine(samples) + " samples of " + Twine(node.dim(0, 1)) +
                        " classes, expected at least 1 of each");
  Type element = node.elementTypeOf("dtype", IntegerType::get(node.context(), 32));
  return node.result(0, element, {node.dim(0, 0), samples});
}

/// Inverse transform sampling: counts the classes whose cumulative probability does not exceed u.
LogicalResult convertMultinomial(Conversion &node) {
  TensorBuilder &b = node.b;
  int64_t classes = node.dim(0, 1);
  Value weights = softmax(b, b.cast(node.value(0), b.getF32Type()), 1);
  Value below = b.cumulativeSum(weights, 1, /*exclusive=*/false, /*reverse=*/false);
  // The last cumulative sum is omitted because rounding may leave it below 1, so that the result is
  // always a valid class.
  below = b.slice(below, {0, 0}, {node.dim(0, 0), classes - 1}, {1, 1});
  SmallVector<int64_t> shape(node.resultShape());
  Value u = randomUniform(node, shape);
  shape.push_back(classes - 1);
  Value isAbove =
      b.compare(Predicate::Ge, b.broadcast(u, {2}, shape), b.broadcast(below, {1}, shape));
  Value count = b.sum(b.cast(isAbove, b.getI32Type()), {2});
  return node.result(0, b.cast(count, node.resultType().getElementType()));
}

} // namespace

void addRandomOperators(Operators &operators) {
  auto add = [&](StringRef name, int64_t version, Operator::Infer infer,
                 Operator::Convert convert) {
    operators.add(
        name, version,
        {.infer = std::move(infer), .convert = std::move(convert), .dependsOnStep = true});
  };
  add("RandomNormal", 1, inferRandom, convertNormal);
  add("RandomUniform", 1, inferRandom, convertUniform);
  add("RandomNormalLike", 1, inferRandomLike, convertNormal);
  add("RandomUniformLike", 1, inferRandomLike, convertUniform);
  add("Bernoulli", 15, inferRandomLike, convertBernoulli);
  add("Multinomial", 7, inferMultinomial, convertMultinomial);
}

} // namespace mtc::onnx
