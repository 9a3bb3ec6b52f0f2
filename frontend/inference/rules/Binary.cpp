//===- Binary.cpp - Elementwise operators of several operands that broadcast ------------------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include <cmath>
#include <functional>

using namespace mlir;

namespace mtc::onnx {
namespace {

Type boolean(Inference &node) { return IntegerType::get(node.context(), 1); }

/// The shape that all operands from `first` on broadcast to; reports operands that do not match.
FailureOr<Extents> broadcastOperands(Inference &node, size_t first = 0) {
  Extents shape(node.shape(first));
  for (size_t i = first + 1; i < node.operandCount(); ++i) {
    std::optional<Extents> both = broadcastShapes(shape, node.shape(i));
    if (!both)
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", which does not broadcast with " + shapeText(shape));
    shape = *both;
  }
  return shape;
}

bool sameElementTypes(Inference &node, size_t first = 0) {
  for (size_t i = first + 1; i < node.operandCount(); ++i)
    if (!node.sameElementType(first, i))
      return false;
  return true;
}

/// All operands broadcast and have one element type, that of the result.
LogicalResult inferArithmetic(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !sameElementTypes(node))
    return failure();
  return node.result(0, node.elementType(0), *shape);
}

LogicalResult inferComparison(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !sameElementTypes(node))
    return failure();
  return node.result(0, boolean(node), *shape);
}

LogicalResult inferLogic(Inference &node) {
  if (!node.booleanElements(0) || !node.booleanElements(1))
    return failure();
  return inferArithmetic(node);
}

LogicalResult inferBitwise(Inference &node) {
  if (!node.integerElements(0))
    return failure();
  return inferArithmetic(node);
}

/// Folds all operands, from the left, with one function of two numbers.
template <typename Function> void foldArithmetic(Inference &node, Function function) {
  Type element = node.elementType(0);
  dispatchNumber(element, [&](auto kind) {
    using T = decltype(kind);
    std::optional<Tensor> result = node.tensor(0);
    for (size_t i = 1; i < node.operandCount() && result; ++i) {
      Tensor next = node.tensor(i);
      auto type = RankedTensorType::get(*broadcastShapes(result->shape(), next.shape()), element);
      result = zip<T, T>(*result, next, type, function);
    }
    node.fold(0, result);
  });
}

template <typename Function>
void addArithmetic(Registry &registry, StringRef name, int64_t version, Function function) {
  registry.add(name, version, inferArithmetic,
               [function](Inference &node) { foldArithmetic(node, function); });
}

template <typename Function>
void addComparison(Registry &registry, StringRef name, int64_t version, Function function) {
  registry.add(name, version, inferComparison, [function](Inference &node) {
    dispatchNumber(node.elementType(0), [&](auto kind) {
      node.fold(0, zip<uint8_t, decltype(kind)>(node.tensor(0), node.tensor(1), node.resultType(),
                                                function));
    });
  });
}

template <typename Function>
void addLogic(Registry &registry, StringRef name, int64_t version, Function function) {
  registry.add(name, version, inferLogic, [function](Inference &node) {
    node.fold(0,
              zip<uint8_t, uint8_t>(node.tensor(0), node.tensor(1), node.resultType(), function));
  });
}

template <typename Function>
void addBitwise(Registry &registry, StringRef name, int64_t version, Function function) {
  registry.add(name, version, inferBitwise, [function](Inference &node) {
    node.fold(0,
              zip<uint64_t, uint64_t>(node.tensor(0), node.tensor(1), node.resultType(), function));
  });
}

/// Integers wrap around.
template <typename T, typename Function> T wrapped(T a, T b, Function function) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return function(a, b);
}
template <typename T> T add(T a, T b) { return wrapped(a, b, std::plus<>()); }
template <typename T> T subtract(T a, T b) { return wrapped(a, b, std::minus<>()); }
template <typename T> T multiply(T a, T b) { return wrapped(a, b, std::multiplies<>()); }

/// Integers truncate towards zero as in C; the results that C leaves undefined (x / 0, INT64_MIN /
/// -1) are 0 and wrap.
template <typename T> T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else if constexpr (std::is_signed_v<T>)
    return b == 0 ? 0 : b == -1 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a / b;
  else
    return b == 0 ? 0 : a / b;
}

/// The remainder with the divisor's sign (Python's), or with `fmod` the dividend's (C's).
template <typename T> T remainder(T a, T b, bool fmod) {
  if constexpr (std::is_floating_point_v<T>) {
    T result = std::fmod(a, b);
    return !fmod && result != 0 && (result < 0) != (b < 0) ? result + b : result;
  } else {
    if (b == 0 || b == static_cast<T>(-1))
      return std::is_signed_v<T> || b == 0 ? 0 : a % b;
    T result = a % b;
    return !fmod && result != 0 && (result < 0) != (b < 0) ? result + b : result;
  }
}

/// NaN wins, as in NumPy.
template <typename T> T maximum(T a, T b) { return a != a || a > b ? a : b; }
template <typename T> T minimum(T a, T b) { return a != a || a < b ? a : b; }

LogicalResult inferMod(Inference &node) {
  bool fmod = node.flag("fmod", false);
  if (!fmod && isa<FloatType>(node.elementType(0)))
    return node.failure("attribute fmod = 0, expected 1 for floating-point operands");
  return inferArithmetic(node);
}

void evaluateMod(Inference &node) {
  bool fmod = node.flag("fmod", false);
  foldArithmetic(node, [fmod](auto a, auto b) { return remainder(a, b, fmod); });
}

/// The result has the base's element type, whatever the exponent's.
LogicalResult inferPow(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape))
    return failure();
  return node.result(0, node.elementType(0), *shape);
}

template <typename T> T power(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(base, exponent);
  } else {
    if constexpr (std::is_signed_v<T>)
      if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, factor = static_cast<uint64_t>(base);
    for (uint64_t left = static_cast<uint64_t>(exponent); left; left >>= 1, factor *= factor)
      if (left & 1)
        result *= factor;
    return static_cast<T>(result);
  }
}

void evaluatePow(Inference &node) {
  Tensor base = node.tensor(0), exponent = node.tensor(1);
  bool viaDouble = isa<IntegerType>(node.elementType(0)) && isa<FloatType>(node.elementType(1));
  auto fold = [&](auto kind) {
    using T = decltype(kind);
    node.fold(0, zip<T, T>(base, exponent, node.resultType(), power<T>));
  };
  if (viaDouble)
    fold(double());
  else
    dispatchNumber(node.elementType(0), fold);
}

LogicalResult inferBitShift(Inference &node) {
  node.choice("direction", "", {"LEFT", "RIGHT"});
  return inferBitwise(node);
}

void evaluateBitShift(Inference &node) {
  bool left = node.string("direction", "") == "LEFT";
  node.fold(0, zip<uint64_t, uint64_t>(node.tensor(0), node.tensor(1), node.resultType(),
                                       [left](uint64_t a, uint64_t b) -> uint64_t {
                                         return b >= 64 ? 0 : left ? a << b : a >> b;
                                       }));
}

LogicalResult inferMean(Inference &node) {
  return success(node.floatElements(0) && succeeded(inferArithmetic(node)));
}

/// The mean divides the sum of all operands by their number.
void evaluateMean(Inference &node) {
  auto count = static_cast<double>(node.operandCount());
  foldArithmetic(node, [](auto a, auto b) { return add(a, b); });
  if (!node.folded(0))
    return;
  dispatchFloat(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    std::vector<T> values = node.folded(0)->compactValues<T>();
    for (T &value : values)
      value /= static_cast<T>(count);
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

/// The slope broadcasts to the operand, not the other way round.
LogicalResult inferPRelu(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !sameElementTypes(node))
    return failure();
  if (ArrayRef<int64_t>(*shape) != node.shape(0))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", which does not broadcast to " + shapeText(node.shape(0)));
  return node.result(0, node.type(0));
}

LogicalResult inferWhere(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !node.booleanElements(0) || !node.sameElementType(1, 2))
    return failure();
  return node.result(0, node.elementType(1), *shape);
}

void evaluateWhere(Inference &node) {
  Tensor condition = node.tensor(0), yes = node.tensor(1), no = node.tensor(2);
  RankedTensorType type = node.resultType();
  auto expanded = [&](const Tensor &value) {
    return stridedCopy(value, type, 0, broadcastStrides(value.shape(), type.getShape()));
  };
  if (condition.isSplat())
    return node.fold(0, expanded(condition.value<uint8_t>() ? yes : no));
  std::optional<Tensor> chosen = expanded(condition), ifTrue = expanded(yes),
                        ifFalse = expanded(no), result = Tensor::allocate(type);
  if (!chosen || !ifTrue || !ifFalse || !result)
    return;
  size_t width = result->elementSize();
  char *out = result->mutableBytes().data();
  for (int64_t i = 0, count = result->size(); i < count; ++i) {
    const Tensor &from = chosen->bytes()[chosen->isSplat() ? 0 : i] ? *ifTrue : *ifFalse;
    std::copy_n(from.bytes().data() + (from.isSplat() ? 0 : i * width), width, out + i * width);
  }
  node.fold(0, result);
}

} // namespace

void registerBinaryRules(Registry &registry) {
  addArithmetic(registry, "Add", 7, [](auto a, auto b) { return add(a, b); });
  addArithmetic(registry, "Sub", 7, [](auto a, auto b) { return subtract(a, b); });
  addArithmetic(registry, "Mul", 7, [](auto a, auto b) { return multiply(a, b); });
  addArithmetic(registry, "Div", 7, [](auto a, auto b) { return divide(a, b); });
  addArithmetic(registry, "Max", 6, [](auto a, auto b) { return maximum(a, b); });
  addArithmetic(registry, "Min", 6, [](auto a, auto b) { return minimum(a, b); });
  addArithmetic(registry, "Sum", 6, [](auto a, auto b) { return add(a, b); });
  registry.add("Mean", 6, inferMean, evaluateMean);
  registry.add("Mod", 10, inferMod, evaluateMod);
  registry.add("Pow", 7, inferPow, evaluatePow);
  registry.add("PRelu", 7, inferPRelu, [](Inference &node) {
    foldArithmetic(node, [](auto x, auto slope) { return x < 0 ? multiply(x, slope) : x; });
  });

  addComparison(registry, "Equal", 7, [](auto a, auto b) { return a == b; });
  addComparison(registry, "Greater", 7, [](auto a, auto b) { return a > b; });
  addComparison(registry, "GreaterOrEqual", 12, [](auto a, auto b) { return a >= b; });
  addComparison(registry, "Less", 7, [](auto a, auto b) { return a < b; });
  addComparison(registry, "LessOrEqual", 12, [](auto a, auto b) { return a <= b; });

  addLogic(registry, "And", 7, [](uint8_t a, uint8_t b) { return a && b; });
  addLogic(registry, "Or", 7, [](uint8_t a, uint8_t b) { return a || b; });
  addLogic(registry, "Xor", 7, [](uint8_t a, uint8_t b) { return a != b; });

  addBitwise(registry, "BitwiseAnd", 18, [](uint64_t a, uint64_t b) { return a & b; });
  addBitwise(registry, "BitwiseOr", 18, [](uint64_t a, uint64_t b) { return a | b; });
  addBitwise(registry, "BitwiseXor", 18, [](uint64_t a, uint64_t b) { return a ^ b; });
  registry.add("BitShift", 11, inferBitShift, evaluateBitShift);

  registry.add("Where", 9, inferWhere, evaluateWhere);
}

} // namespace mtc::onnx
