//===- Activation.cpp - Activation functions --------------------------------------------------===//
//
// Written with select where they have a kink, so that the gradient there is that of PyTorch's
// function and NaN passes. The side that is not chosen is kept finite: its cotangent is 0, and 0
// times infinity would be NaN.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

Value isPositive(TensorBuilder &b, Value x) { return b.compare(Predicate::Gt, x, b.splat(x, 0.0)); }

/// x for x > 0, slope(x) elsewhere.
Value aboveZero(TensorBuilder &b, Value x, Value elsewhere) {
  return b.select(isPositive(b, x), x, elsewhere);
}

/// y = 0 for x <= 0, x elsewhere. The gradient at 0 is 0.
Value relu(TensorBuilder &b, Value x) {
  Value zero = b.splat(x, 0.0);
  return b.select(b.compare(Predicate::Le, x, zero), zero, x);
}

/// e^x - 1 where x <= 0; where x > 0 it is 0.
Value expm1OfNegative(TensorBuilder &b, Value x) {
  return b.expm1(b.select(isPositive(b, x), b.splat(x, 0.0), x));
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|), which does not overflow.
Value softplus(TensorBuilder &b, Value x) {
  return b.add(b.max(x, b.splat(x, 0.0)), b.log1p(b.exp(b.neg(b.abs(x)))));
}

/// low where x < low, high where x > high; the gradient at the bounds is 1.
Value clip(TensorBuilder &b, Value x, Value low, Value high) {
  if (low)
    x = b.select(b.compare(Predicate::Lt, x, low), low, x);
  if (high)
    x = b.select(b.compare(Predicate::Gt, x, high), high, x);
  return x;
}

/// x Φ(x) with Φ(x) = (1 + erf(x / sqrt 2)) / 2, or with the tanh approximation of Hendrycks and
/// Gimpel (2016).
LogicalResult convertGelu(Conversion &node) {
  StringRef approximate = node.choice("approximate", "none", {"none", "tanh"});
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0), one = b.splat(x, 1.0), half = b.splat(x, 0.5);
  Value inner;
  if (approximate == "tanh") {
    Value cube = b.mul(x, b.mul(x, x));
    Value polynomial = b.add(x, b.mul(b.splat(x, 0.044715), cube));
    inner = b.tanh(b.mul(b.splat(x, 0.7978845608028654), polynomial)); // sqrt(2 / pi)
  } else {
    inner = b.erf(b.mul(x, b.splat(x, 0.7071067811865476))); // 1 / sqrt 2
  }
  return node.result(0, b.mul(b.mul(x, half), b.add(one, inner)));
}

LogicalResult convertRelu(Conversion &node) { return node.result(0, relu(node.b, node.value(0))); }

LogicalResult convertLeakyRelu(Conversion &node) {
  double alpha = node.floating("alpha", 0.01);
  if (node.failed())
    return failure();
  Value x = node.value(0);
  return node.result(0, aboveZero(node.b, x, node.b.mul(x, node.b.splat(x, alpha))));
}

LogicalResult convertPRelu(Conversion &node) {
  Value x = node.value(0), slope = node.broadcastValue(1, node.resultShape());
  return node.result(0, aboveZero(node.b, x, node.b.mul(x, slope)));
}

/// alpha (e^x - 1) for x <= 0.
LogicalResult convertElu(Conversion &node) {
  double alpha = node.floating("alpha", 1.0);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  return node.result(0, aboveZero(b, x, b.mul(b.splat(x, alpha), expm1OfNegative(b, x))));
}

/// alpha (e^(x / alpha) - 1) for x <= 0.
LogicalResult convertCelu(Conversion &node) {
  double alpha = node.floating("alpha", 1.0);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value scaled = b.mul(x, b.splat(x, 1.0 / alpha));
  return node.result(0, aboveZero(b, x, b.mul(b.splat(x, alpha), expm1OfNegative(b, scaled))));
}

/// gamma x for x > 0, gamma alpha (e^x - 1) elsewhere.
LogicalResult convertSelu(Conversion &node) {
  double alpha = node.floating("alpha", 1.6732631921768188);
  double gamma = node.floating("gamma", 1.0507010221481323);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value elu = aboveZero(b, x, b.mul(b.splat(x, alpha), expm1OfNegative(b, x)));
  return node.result(0, b.mul(b.splat(x, gamma), elu));
}

LogicalResult convertThresholdedRelu(Conversion &node) {
  double alpha = node.floating("alpha", 1.0);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value below = b.compare(Predicate::Le, x, b.splat(x, alpha));
  return node.result(0, b.select(below, b.splat(x, 0.0), x));
}

/// alpha x + beta between 0 and 1.
Value hardSigmoid(TensorBuilder &b, Value x, double alpha, double beta) {
  Value line = b.add(b.mul(x, b.splat(x, alpha)), b.splat(x, beta));
  return clip(b, line, b.splat(x, 0.0), b.splat(x, 1.0));
}

LogicalResult convertHardSigmoid(Conversion &node) {
  double alpha = node.floating("alpha", 0.2), beta = node.floating("beta", 0.5);
  if (node.failed())
    return failure();
  return node.result(0, hardSigmoid(node.b, node.value(0), alpha, beta));
}

/// x hardSigmoid(x) with alpha = 1/6, beta = 1/2.
LogicalResult convertHardSwish(Conversion &node) {
  Value x = node.value(0);
  return node.result(0, node.b.mul(x, hardSigmoid(node.b, x, 1.0 / 6.0, 0.5)));
}

/// x / (1 + e^(-alpha x)).
LogicalResult convertSwish(Conversion &node) {
  double alpha = node.floating("alpha", 1.0);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value scaled = alpha == 1.0 ? x : b.mul(x, b.splat(x, alpha));
  return node.result(0, b.mul(x, b.logistic(scaled)));
}

LogicalResult convertTanh(Conversion &node) { return node.result(0, node.b.tanh(node.value(0))); }
LogicalResult convertSigmoid(Conversion &node) {
  return node.result(0, node.b.logistic(node.value(0)));
}
LogicalResult convertSoftplus(Conversion &node) {
  return node.result(0, softplus(node.b, node.value(0)));
}

/// x / (1 + |x|).
LogicalResult convertSoftsign(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  return node.result(0, b.div(x, b.add(b.splat(x, 1.0), b.abs(x))));
}

/// x tanh(ln(1 + e^x)).
LogicalResult convertMish(Conversion &node) {
  Value x = node.value(0);
  return node.result(0, node.b.mul(x, node.b.tanh(softplus(node.b, x))));
}

/// Bounds are attributes up to version 6, scalar operands from 11 on; either may be absent.
LogicalResult convertClip(Conversion &node) {
  Value x = node.value(0), low, high;
  if (node.version() < 11) {
    if (node.hasAttribute("min"))
      low = node.b.splat(x, node.floating("min"));
    if (node.hasAttribute("max"))
      high = node.b.splat(x, node.floating("max"));
    if (node.failed())
      return failure();
  } else {
    if (node.has(1))
      low = node.broadcastValue(1, node.resultShape());
    if (node.has(2))
      high = node.broadcastValue(2, node.resultShape());
  }
  return node.result(0, clip(node.b, x, low, high));
}

} // namespace

void registerActivationConverters(Converters &converters) {
  converters.add("Gelu", 20, convertGelu);
  converters.add("Relu", 1, convertRelu);
  converters.add("LeakyRelu", 1, convertLeakyRelu);
  converters.add("PRelu", 7, convertPRelu);
  converters.add("Elu", 1, convertElu);
  converters.add("Celu", 12, convertCelu);
  converters.add("Selu", 1, convertSelu);
  converters.add("ThresholdedRelu", 10, convertThresholdedRelu);
  converters.add("HardSigmoid", 1, convertHardSigmoid);
  converters.add("HardSwish", 14, convertHardSwish);
  converters.add("Swish", 24, convertSwish);
  converters.add("Tanh", 1, convertTanh);
  converters.add("Sigmoid", 1, convertSigmoid);
  converters.add("Softplus", 1, convertSoftplus);
  converters.add("Softsign", 1, convertSoftsign);
  converters.add("Mish", 18, convertMish);
  converters.add("Clip", 6, convertClip);
}

} // namespace mtc::onnx
