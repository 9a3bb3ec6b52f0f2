//===- ActivationFormulas.cpp - Activation functions in the core dialect ----------------------===//
//
// Functions with a kink are built with select, so that the gradient at the kink is PyTorch's and
// NaN propagates. The unselected operand is kept finite: its cotangent is 0, and 0 times infinity
// would be NaN.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/support/ActivationFormulas.h"
#include "frontend/onnx/operators/support/Formulas.h"

using namespace mlir;

namespace mtc::onnx {

static Value isPositive(TensorBuilder &b, Value x) {
  return b.compare(Predicate::Gt, x, b.splat(x, 0.0));
}

Value aboveZero(TensorBuilder &b, Value x, Value elsewhere) {
  return b.select(isPositive(b, x), x, elsewhere);
}

Value relu(TensorBuilder &b, Value x) {
  Value zero = b.splat(x, 0.0);
  return b.select(b.compare(Predicate::Le, x, zero), zero, x);
}

Value expm1OfNegative(TensorBuilder &b, Value x) {
  return b.expm1(b.select(isPositive(b, x), b.splat(x, 0.0), x));
}

// max(x, 0) + ln(1 + e^-|x|) does not overflow.
Value softplus(TensorBuilder &b, Value x) {
  return b.add(b.max(x, b.splat(x, 0.0)), b.log1p(b.exp(b.neg(b.abs(x)))));
}

Value leakyRelu(TensorBuilder &b, Value x, double alpha) {
  return aboveZero(b, x, b.mul(x, b.splat(x, alpha)));
}

Value elu(TensorBuilder &b, Value x, double alpha) {
  return aboveZero(b, x, b.mul(b.splat(x, alpha), expm1OfNegative(b, x)));
}

Value thresholdedRelu(TensorBuilder &b, Value x, double alpha) {
  Value below = b.compare(Predicate::Le, x, b.splat(x, alpha));
  return b.select(below, b.splat(x, 0.0), x);
}

Value hardSigmoid(TensorBuilder &b, Value x, double alpha, double beta) {
  Value line = b.add(b.mul(x, b.splat(x, alpha)), b.splat(x, beta));
  return clip(b, line, b.splat(x, 0.0), b.splat(x, 1.0));
}

Value softsign(TensorBuilder &b, Value x) { return b.div(x, b.add(b.splat(x, 1.0), b.abs(x))); }

Value selu(TensorBuilder &b, Value x, double alpha, double gamma) {
  Value y = elu(b, x, alpha);
  return b.mul(b.splat(x, gamma), y);
}

Value swish(TensorBuilder &b, Value x, double alpha) {
  Value scaled = alpha == 1.0 ? x : b.mul(x, b.splat(x, alpha));
  return b.mul(x, b.logistic(scaled));
}

/// Returns 0.5 x (1 + inner).
static Value halfOf(TensorBuilder &b, Value x, Value inner) {
  return b.mul(b.mul(x, b.splat(x, 0.5)), b.add(b.splat(x, 1.0), inner));
}

Value gelu(TensorBuilder &b, Value x) {
  return halfOf(b, x, b.erf(b.mul(x, b.splat(x, 0.7071067811865476)))); // 1 / sqrt 2
}

Value tanhGelu(TensorBuilder &b, Value x) {
  Value cube = b.mul(x, b.mul(x, x));
  Value polynomial = b.add(x, b.mul(b.splat(x, 0.044715), cube));
  return halfOf(b, x, b.tanh(b.mul(b.splat(x, 0.7978845608028654), polynomial))); // sqrt(2 / pi)
}

} // namespace mtc::onnx
