//===- Activation.cpp - Activation functions --------------------------------------------------===//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Elementwise.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/ActivationFormulas.h"
#include "frontend/onnx/operators/support/Broadcast.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Unary functions ----------------------------------------------------------------------===//

template <typename T> T evaluateSigmoid(T x) {
  T e = std::exp(-std::abs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

template <typename T> T evaluateSoftplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

/// alpha (e^(x / alpha) - 1) for x <= 0, x elsewhere.
Value celu(TensorBuilder &b, Value x, double alpha) {
  Value scaled = b.mul(x, b.splat(x, 1.0 / alpha));
  return aboveZero(b, x, b.mul(b.splat(x, alpha), expm1OfNegative(b, scaled)));
}

/// x (min(max(x, -3), 3) + 3) / 6. The clipping bounds apply to x itself, so the slope is 0 at -3
/// and 1 at 3.
Value hardSwish(TensorBuilder &b, Value x) {
  Value three = b.splat(x, 3.0), within = clip(b, x, b.splat(x, -3.0), three);
  return b.mul(x, b.mul(b.add(within, three), b.splat(x, 1.0 / 6.0)));
}

/// ln(1 / (1 + e^-x)) as min(x, 0) - ln(1 + e^-|x|), which does not overflow. This is not an ONNX
/// operator; a pass that recognizes exported patterns creates it.
LogicalResult convertLogSigmoid(Conversion &node) {
  return node.result(0, node.b.neg(softplus(node.b, node.b.neg(node.value(0)))));
}

/// x + bias for x < -lambda, x - bias for x > lambda, 0 between.
Value shrink(TensorBuilder &b, Value x, double bias, double lambda) {
  Value zero = b.splat(x, 0.0), by = b.splat(x, bias);
  Value above = b.select(b.compare(Predicate::Gt, x, b.splat(x, lambda)), b.sub(x, by), zero);
  return b.select(b.compare(Predicate::Lt, x, b.splat(x, -lambda)), b.add(x, by), above);
}

/// x tanh(ln(1 + e^x)).
Value mish(TensorBuilder &b, Value x) { return b.mul(x, b.tanh(softplus(b, x))); }

void registerFunctions(Operators &operators) {
  auto add = [&](StringRef name, int64_t version, auto compute, auto build, auto... attributes) {
    addElementwise(operators, name, version, compute, build, attributes...);
  };
  add(
      "Sigmoid", 1, [](auto x) { return evaluateSigmoid(x); },
      [](TensorBuilder &b, Value x) { return b.logistic(x); });
  add("Softplus", 1, [](auto x) { return evaluateSoftplus(x); }, softplus);
  add("Softsign", 1, [](auto x) { return x / (1 + std::abs(x)); }, softsign);
  add("Mish", 18, [](auto x) { return x * std::tanh(evaluateSoftplus(x)); }, mish);
  add(
      "HardSwish", 14,
      [](auto x) {
        using T = decltype(x);
        return x * std::clamp(x / 6 + T(0.5), T(0), T(1));
      },
      hardSwish);

  FloatAttribute alpha{"alpha", 1};
  add("Elu", 1, [](auto x, auto a) { return x < 0 ? a * std::expm1(x) : x; }, elu, alpha);
  add("Celu", 12, [](auto x, auto a) { return x < 0 ? a * std::expm1(x / a) : x; }, celu, alpha);
  add(
      "LeakyRelu", 1, [](auto x, auto a) { return x < 0 ? a * x : x; }, leakyRelu,
      FloatAttribute{"alpha", 0.01});
  add("ThresholdedRelu", 10, [](auto x, auto a) { return x > a ? x : 0; }, thresholdedRelu, alpha);
  add("Swish", 24, [](auto x, auto a) { return x * evaluateSigmoid(a * x); }, swish, alpha);
  add(
      "Selu", 6, [](auto x, auto a, auto g) { return g * (x > 0 ? x : a * std::expm1(x)); }, selu,
      FloatAttribute{"alpha", 1.6732631921768188}, FloatAttribute{"gamma", 1.0507010221481323});
  add(
      "HardSigmoid", 6,
      [](auto x, auto a, auto b) {
        using T = decltype(x);
        return std::clamp(a * x + b, T(0), T(1));
      },
      hardSigmoid, FloatAttribute{"alpha", 0.2}, FloatAttribute{"beta", 0.5});
  add(
      "Shrink", 9,
      [](auto x, auto bias, auto lambd) {
        return x < -lambd ? x + bias : x > lambd ? x - bias : 0;
      },
      shrink, FloatAttribute{"bias", 0}, FloatAttribute{"lambd", 0.5});
}

//===--- Gelu ---------------------------------------------------------------------------------===//

/// Returns whether Gelu is the tanh approximation.
bool isApproximate(NodeView &node) {
  return node.choice("approximate", "none", {"none", "tanh"}) == "tanh";
}

LogicalResult inferGelu(Inference &node) {
  isApproximate(node);
  return inferSameFloat(node);
}

// 0.5 x (1 + erf(x / √2)), or 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))).
void evaluateGelu(Inference &node) {
  bool tanh = isApproximate(node);
  mapFloats(node, [&](auto x) {
    using T = decltype(x);
    if (!tanh)
      return T(0.5) * x * (T(1) + std::erf(x / std::numbers::sqrt2_v<T>));
    return T(0.5) * x *
           (T(1) +
            std::tanh(std::sqrt(T(2) / std::numbers::pi_v<T>) * (x + T(0.044715) * x * x * x)));
  });
}

LogicalResult convertGelu(Conversion &node) {
  bool tanh = isApproximate(node);
  if (node.failed())
    return failure();
  Value x = node.value(0);
  return node.result(0, tanh ? tanhGelu(node.b, x) : gelu(node.b, x));
}

//===--- Relu, PRelu --------------------------------------------------------------------------===//

void evaluateRelu(Inference &node) {
  mapNumbers(node, [](auto x) -> decltype(x) { return x < 0 ? 0 : x; });
}

LogicalResult convertRelu(Conversion &node) { return node.result(0, relu(node.b, node.value(0))); }

/// The slope is broadcast to the operand; the operand is never broadcast.
LogicalResult inferPRelu(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !sameElementTypes(node))
    return failure();
  if (ArrayRef<int64_t>(*shape) != node.shape(0))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", which does not broadcast to " + shapeText(node.shape(0)));
  return node.result(0, node.type(0));
}

void evaluatePRelu(Inference &node) {
  foldOperands(node, [](auto x, auto slope) { return x < 0 ? productOf(x, slope) : x; });
}

LogicalResult convertPRelu(Conversion &node) {
  Value x = node.value(0), slope = node.broadcastValue(1, node.resultShape());
  return node.result(0, aboveZero(node.b, x, node.b.mul(x, slope)));
}

} // namespace

void addActivationOperators(Operators &operators) {
  registerFunctions(operators);
  operators.add("Gelu", 20, {.infer = inferGelu, .evaluate = evaluateGelu, .convert = convertGelu});
  operators.add("Relu", 1, {.infer = inferSame, .evaluate = evaluateRelu, .convert = convertRelu});
  operators.add("PRelu", 7,
                {.infer = inferPRelu,
                 .evaluate = evaluatePRelu,
                 .convert = convertPRelu,
                 .roles = {{1, OperandRole::BiasOrScale}}});
  operators.add("mtc::LogSigmoid", 1, {.convert = convertLogSigmoid});
}

} // namespace mtc::onnx
