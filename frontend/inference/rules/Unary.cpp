//===- Unary.cpp - Elementwise operators of one operand ---------------------------------------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult inferSame(Inference &node) { return node.result(0, node.type(0)); }

LogicalResult inferSameFloat(Inference &node) {
  return success(node.floatElements(0) && succeeded(inferSame(node)));
}

LogicalResult inferSameInteger(Inference &node) {
  return success(node.integerElements(0) && succeeded(inferSame(node)));
}

LogicalResult inferSameBoolean(Inference &node) {
  return success(node.booleanElements(0) && succeeded(inferSame(node)));
}

/// A test of floats: i1 of the same shape.
LogicalResult inferTest(Inference &node) {
  if (!node.floatElements(0))
    return failure();
  return node.result(0, IntegerType::get(node.context(), 1), node.shape(0));
}

/// -x; integers wrap around.
template <typename T> T negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<uint64_t>(x));
  else
    return -x;
}

/// An operator of one float operand: y = function(x), in the arithmetic of the element type.
template <typename Function>
void addFloat(Registry &registry, StringRef name, int64_t version, Function function) {
  registry.add(name, version, inferSameFloat,
               [function](Inference &node) { mapFloats(node, function); });
}

/// The same with up to two float attributes: y = function(x, first, second).
struct FloatAttribute {
  StringRef name;
  double byDefault;
};
template <typename Function>
void addFloat(Registry &registry, StringRef name, int64_t version, FloatAttribute first,
              FloatAttribute second, Function function) {
  auto infer = [=](Inference &node) {
    node.floating(first.name, first.byDefault);
    node.floating(second.name, second.byDefault);
    return inferSameFloat(node);
  };
  registry.add(name, version, infer, [=](Inference &node) {
    double a = node.floating(first.name, first.byDefault);
    double b = node.floating(second.name, second.byDefault);
    mapFloats(node, [&](auto x) {
      using T = decltype(x);
      return function(x, static_cast<T>(a), static_cast<T>(b));
    });
  });
}

template <typename Function>
void addTest(Registry &registry, StringRef name, int64_t version, Function function) {
  registry.add(name, version, inferTest, [function](Inference &node) {
    std::vector<double> values = node.tensor(0).compactValues<double>();
    std::vector<uint8_t> results(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      results[i] = function(node, values[i]);
    node.fold(0, Tensor::fromValues<uint8_t>(node.resultType(), results));
  });
}

/// y = clamp(x); bounds are attributes before version 11.
LogicalResult inferClip(Inference &node) {
  if (!node.hasOneElement(1) || !node.hasOneElement(2))
    return failure();
  return inferSame(node);
}

void evaluateClip(Inference &node) {
  dispatchNumber(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    if constexpr (std::is_floating_point_v<T>) {
      low = node.version() < 11 ? static_cast<T>(node.floating("min", -3.4028234663852886e38))
                                : -std::numeric_limits<T>::infinity();
      high = node.version() < 11 ? static_cast<T>(node.floating("max", 3.4028234663852886e38))
                                 : std::numeric_limits<T>::infinity();
    }
    if (node.has(1))
      low = node.tensor(1).value<T>();
    if (node.has(2))
      high = node.tensor(2).value<T>();
    std::vector<T> values = node.tensor(0).compactValues<T>();
    for (T &x : values)
      x = x < low ? (low < high ? low : high) : (high < x ? high : x);
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

LogicalResult inferGelu(Inference &node) {
  node.choice("approximate", "none", {"none", "tanh"});
  return inferSameFloat(node);
}

// 0.5 x (1 + erf(x / √2)), or 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))).
void evaluateGelu(Inference &node) {
  bool tanh = node.string("approximate", "none") == "tanh";
  mapFloats(node, [&](auto x) {
    using T = decltype(x);
    if (!tanh)
      return T(0.5) * x * (T(1) + std::erf(x / std::numbers::sqrt2_v<T>));
    return T(0.5) * x *
           (T(1) +
            std::tanh(std::sqrt(T(2) / std::numbers::pi_v<T>) * (x + T(0.044715) * x * x * x)));
  });
}

template <typename T> T sigmoid(T x) {
  T e = std::exp(-std::abs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

template <typename T> T softplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

void registerElementary(Registry &registry) {
  addFloat(registry, "Exp", 1, [](auto x) { return std::exp(x); });
  addFloat(registry, "Log", 1, [](auto x) { return std::log(x); });
  addFloat(registry, "Sqrt", 1, [](auto x) { return std::sqrt(x); });
  addFloat(registry, "Reciprocal", 1, [](auto x) { return 1 / x; });
  addFloat(registry, "Erf", 9, [](auto x) { return std::erf(x); });
  addFloat(registry, "Ceil", 1, [](auto x) { return std::ceil(x); });
  addFloat(registry, "Floor", 1, [](auto x) { return std::floor(x); });
  addFloat(registry, "Round", 11, [](auto x) { return std::nearbyint(x); }); // Halves to even.
  addFloat(registry, "Sin", 7, [](auto x) { return std::sin(x); });
  addFloat(registry, "Cos", 7, [](auto x) { return std::cos(x); });
  addFloat(registry, "Tan", 7, [](auto x) { return std::tan(x); });
  addFloat(registry, "Asin", 7, [](auto x) { return std::asin(x); });
  addFloat(registry, "Acos", 7, [](auto x) { return std::acos(x); });
  addFloat(registry, "Atan", 7, [](auto x) { return std::atan(x); });
  addFloat(registry, "Sinh", 9, [](auto x) { return std::sinh(x); });
  addFloat(registry, "Cosh", 9, [](auto x) { return std::cosh(x); });
  addFloat(registry, "Tanh", 1, [](auto x) { return std::tanh(x); });
  addFloat(registry, "Asinh", 9, [](auto x) { return std::asinh(x); });
  addFloat(registry, "Acosh", 9, [](auto x) { return std::acosh(x); });
  addFloat(registry, "Atanh", 9, [](auto x) { return std::atanh(x); });
}

void registerActivations(Registry &registry) {
  addFloat(registry, "Sigmoid", 1, [](auto x) { return sigmoid(x); });
  addFloat(registry, "Softplus", 1, [](auto x) { return softplus(x); });
  addFloat(registry, "Softsign", 1, [](auto x) { return x / (1 + std::abs(x)); });
  addFloat(registry, "HardSwish", 14, [](auto x) {
    using T = decltype(x);
    return x * std::clamp(x / 6 + T(0.5), T(0), T(1));
  });
  addFloat(registry, "Mish", 18, [](auto x) { return x * std::tanh(softplus(x)); });

  FloatAttribute none{"", 0}, alpha1{"alpha", 1};
  addFloat(registry, "Elu", 1, alpha1, none,
           [](auto x, auto a, auto) { return x < 0 ? a * std::expm1(x) : x; });
  addFloat(registry, "Celu", 12, alpha1, none,
           [](auto x, auto a, auto) { return x < 0 ? a * std::expm1(x / a) : x; });
  addFloat(registry, "LeakyRelu", 1, {"alpha", 0.01}, none,
           [](auto x, auto a, auto) { return x < 0 ? a * x : x; });
  addFloat(registry, "ThresholdedRelu", 10, alpha1, none,
           [](auto x, auto a, auto) { return x > a ? x : 0; });
  addFloat(registry, "Swish", 24, alpha1, none,
           [](auto x, auto a, auto) { return x * sigmoid(a * x); });
  addFloat(registry, "Selu", 6, {"alpha", 1.67326319217681884765625},
           {"gamma", 1.05070102214813232421875},
           [](auto x, auto a, auto g) { return g * (x > 0 ? x : a * std::expm1(x)); });
  addFloat(registry, "HardSigmoid", 6, {"alpha", 0.2}, {"beta", 0.5}, [](auto x, auto a, auto b) {
    using T = decltype(x);
    return std::clamp(a * x + b, T(0), T(1));
  });
  addFloat(registry, "Shrink", 9, {"bias", 0}, {"lambd", 0.5}, [](auto x, auto bias, auto lambd) {
    return x < -lambd ? x + bias : x > lambd ? x - bias : 0;
  });
  registry.add("Gelu", 20, inferGelu, evaluateGelu);
}

} // namespace

void registerUnaryRules(Registry &registry) {
  registerElementary(registry);
  registerActivations(registry);

  registry.add("Abs", 1, inferSame, [](Inference &node) {
    mapNumbers(node, [](auto x) -> decltype(x) { return x < 0 ? negated(x) : x == 0 ? 0 : x; });
  });
  registry.add("Neg", 1, inferSame,
               [](Inference &node) { mapNumbers(node, [](auto x) { return negated(x); }); });
  registry.add("Sign", 9, inferSame, [](Inference &node) {
    mapNumbers(node, [](auto x) -> decltype(x) { return (x > 0) - (x < 0); });
  });
  registry.add("Relu", 1, inferSame, [](Inference &node) {
    mapNumbers(node, [](auto x) -> decltype(x) { return x < 0 ? 0 : x; });
  });
  registry.add("Not", 1, inferSameBoolean, [](Inference &node) {
    mapNumbers(node, [](auto x) -> decltype(x) { return x == 0; });
  });
  registry.add("BitwiseNot", 18, inferSameInteger, [](Inference &node) {
    dispatchInteger(node.elementType(0), [&](auto kind) {
      auto values = node.tensor(0).compactValues<decltype(kind)>();
      for (auto &value : values)
        value = ~value;
      node.fold(0, Tensor::fromValues<decltype(kind)>(node.resultType(), values));
    });
  });
  addTest(registry, "IsNaN", 9, [](Inference &, double x) { return std::isnan(x); });
  addTest(registry, "IsInf", 10, [](Inference &node, double x) {
    return std::isinf(x) &&
           (x > 0 ? node.flag("detect_positive", true) : node.flag("detect_negative", true));
  });
  registry.add("Clip", 6, inferClip, evaluateClip);
}

} // namespace mtc::onnx
