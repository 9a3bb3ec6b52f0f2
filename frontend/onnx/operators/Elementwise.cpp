//===- Elementwise.cpp - Unary elementary functions and predicates ----------------------------===//

#include "frontend/onnx/operators/Elementwise.h"
#include "frontend/onnx/operators/Operators.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult inferSameInteger(Inference &node) {
  return success(node.integerElements(0) && succeeded(inferSame(node)));
}

LogicalResult inferSameBoolean(Inference &node) {
  return success(node.booleanElements(0) && succeeded(inferSame(node)));
}

/// Infers a predicate on floats: i1 of the same shape.
LogicalResult inferTest(Inference &node) {
  if (!node.floatElements(0))
    return failure();
  return node.result(0, IntegerType::get(node.context(), 1), node.shape(0));
}

/// Folds y[i] = test(x[i]).
template <typename Test> void evaluateTest(Inference &node, Test test) {
  std::vector<double> values = node.tensor(0).compactValues<double>();
  std::vector<uint8_t> results(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    results[i] = test(values[i]);
  node.fold(0, Tensor::fromValues<uint8_t>(node.resultType(), results));
}

/// Returns -x; integers wrap around.
template <typename T> T negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<uint64_t>(x));
  else
    return -x;
}

/// 1 / x.
Value reciprocal(TensorBuilder &b, Value x) { return b.div(b.splat(x, 1.0), x); }

/// (e^x - e^-x) / 2 and (e^x + e^-x) / 2. sinh uses e^x - 1 to avoid cancellation.
Value sinh(TensorBuilder &b, Value x) {
  Value half = b.splat(x, 0.5);
  return b.mul(half, b.sub(b.expm1(x), b.expm1(b.neg(x))));
}
Value cosh(TensorBuilder &b, Value x) {
  Value half = b.splat(x, 0.5);
  return b.mul(half, b.add(b.exp(x), b.exp(b.neg(x))));
}

/// s ln(a + sqrt(a² + 1)) with s = ±1 the sign of x (1 at 0) and a = s x >= 0, so that the
/// derivative at 0 is 1. Computed with log1p: a + sqrt(a² + 1) - 1 = a + a² / (1 + sqrt(a² + 1)).
Value asinh(TensorBuilder &b, Value x) {
  Value one = b.splat(x, 1.0), zero = b.splat(x, 0.0);
  Value side = b.select(b.compare(Predicate::Lt, x, zero), b.splat(x, -1.0), one);
  Value a = b.mul(side, x), square = b.mul(a, a);
  Value root = b.sqrt(b.add(square, one));
  return b.mul(side, b.log1p(b.add(a, b.div(square, b.add(one, root)))));
}
/// ln(x + sqrt(x² - 1)).
Value acosh(TensorBuilder &b, Value x) {
  return b.log(b.add(x, b.sqrt(b.sub(b.mul(x, x), b.splat(x, 1.0)))));
}
/// (ln(1 + x) - ln(1 - x)) / 2.
Value atanh(TensorBuilder &b, Value x) {
  return b.mul(b.splat(x, 0.5), b.sub(b.log1p(x), b.log1p(b.neg(x))));
}

Value tan(TensorBuilder &b, Value x) { return b.div(b.sin(x), b.cos(x)); }
Value asin(TensorBuilder &b, Value x) { return AsinOp::create(b, x); }
Value acos(TensorBuilder &b, Value x) { return AcosOp::create(b, x); }
Value atan(TensorBuilder &b, Value x) { return AtanOp::create(b, x); }
Value floor(TensorBuilder &b, Value x) { return FloorOp::create(b, x); }
Value ceil(TensorBuilder &b, Value x) { return CeilOp::create(b, x); }
Value round(TensorBuilder &b, Value x) { return RoundOp::create(b, x); }

Value abs(TensorBuilder &b, Value x) {
  return isUnsigned(typeOf(x).getElementType()) ? x : b.abs(x);
}

/// Signs of the infinities that IsInf detects.
struct Infinities {
  bool negative, positive;

  static Infinities read(NodeView &node) {
    return {node.flag("detect_negative", true), node.flag("detect_positive", true)};
  }
};

LogicalResult inferIsInf(Inference &node) {
  Infinities::read(node);
  return inferTest(node);
}

void evaluateIsInf(Inference &node) {
  Infinities found = Infinities::read(node);
  evaluateTest(
      node, [&](double x) { return std::isinf(x) && (x > 0 ? found.positive : found.negative); });
}

LogicalResult convertIsInf(Conversion &node) {
  auto [negative, positive] = Infinities::read(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (!negative && !positive)
    return node.result(0, b.splat(node.resultType(), 0.0));
  Value checked = negative && positive ? b.abs(x) : negative ? b.neg(x) : x;
  return node.result(0, b.compare(Predicate::Eq, checked, b.splat(x, INFINITY)));
}

/// Registers float functions that have a differentiable form in the core dialect.
void registerFunctions(Operators &operators) {
  auto add = [&](StringRef name, int64_t version, auto compute, auto build) {
    addElementwise(operators, name, version, compute, build);
  };
  using B = TensorBuilder;
  add("Exp", 1, [](auto x) { return std::exp(x); }, [](B &b, Value x) { return b.exp(x); });
  add("Log", 1, [](auto x) { return std::log(x); }, [](B &b, Value x) { return b.log(x); });
  add("Sqrt", 1, [](auto x) { return std::sqrt(x); }, [](B &b, Value x) { return b.sqrt(x); });
  add("Reciprocal", 1, [](auto x) { return 1 / x; }, reciprocal);
  add("Erf", 9, [](auto x) { return std::erf(x); }, [](B &b, Value x) { return b.erf(x); });
  add("Ceil", 1, [](auto x) { return std::ceil(x); }, ceil);
  add("Floor", 1, [](auto x) { return std::floor(x); }, floor);
  add("Round", 11, [](auto x) { return std::nearbyint(x); }, round); // Rounds halves to even.
  add("Sin", 7, [](auto x) { return std::sin(x); }, [](B &b, Value x) { return b.sin(x); });
  add("Cos", 7, [](auto x) { return std::cos(x); }, [](B &b, Value x) { return b.cos(x); });
  add("Tan", 7, [](auto x) { return std::tan(x); }, tan);
  add("Sinh", 9, [](auto x) { return std::sinh(x); }, sinh);
  add("Cosh", 9, [](auto x) { return std::cosh(x); }, cosh);
  add("Tanh", 1, [](auto x) { return std::tanh(x); }, [](B &b, Value x) { return b.tanh(x); });
  add("Asinh", 9, [](auto x) { return std::asinh(x); }, asinh);
  add("Acosh", 9, [](auto x) { return std::acosh(x); }, acosh);
  add("Atanh", 9, [](auto x) { return std::atanh(x); }, atanh);
  add("Asin", 7, [](auto x) { return std::asin(x); }, asin);
  add("Acos", 7, [](auto x) { return std::acos(x); }, acos);
  add("Atan", 7, [](auto x) { return std::atan(x); }, atan);
}

void evaluateAbs(Inference &node) {
  mapNumbers(node, [](auto x) -> decltype(x) { return x < 0 ? negated(x) : x == 0 ? 0 : x; });
}
void evaluateNeg(Inference &node) {
  mapNumbers(node, [](auto x) { return negated(x); });
}
void evaluateSign(Inference &node) {
  mapNumbers(node, [](auto x) -> decltype(x) { return (x > 0) - (x < 0); });
}
void evaluateNot(Inference &node) {
  mapNumbers(node, [](auto x) -> decltype(x) { return x == 0; });
}

void evaluateBitwiseNot(Inference &node) {
  dispatchInteger(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    node.fold(0, mapStored<T>(node.storedTensor(0), node.resultType(), std::bit_not<T>()));
  });
}

void evaluateIsNaN(Inference &node) {
  evaluateTest(node, [](double x) { return std::isnan(x); });
}

} // namespace

void addElementwiseOperators(Operators &operators) {
  registerFunctions(operators);
  using B = TensorBuilder;
  auto expression = [](auto build) {
    return [build](Conversion &node) { return node.result(0, build(node.b, node.value(0))); };
  };
  operators.add("Abs", 1,
                {.infer = inferSame, .evaluate = evaluateAbs, .convert = expression(abs)});
  operators.add("Neg", 1,
                {.infer = inferSame,
                 .evaluate = evaluateNeg,
                 .convert = expression([](B &b, Value x) { return b.neg(x); })});
  operators.add("Sign", 9,
                {.infer = inferSame,
                 .evaluate = evaluateSign,
                 .convert = expression([](B &b, Value x) { return b.sign(x); })});
  operators.add("Not", 1,
                {.infer = inferSameBoolean,
                 .evaluate = evaluateNot,
                 .convert = expression([](B &b, Value x) { return b.logicalNot(x); })});
  operators.add("BitwiseNot", 18,
                {.infer = inferSameInteger,
                 .evaluate = evaluateBitwiseNot,
                 .convert = expression([](B &b, Value x) { return b.logicalNot(x); })});
  operators.add("IsNaN", 9,
                {.infer = inferTest,
                 .evaluate = evaluateIsNaN,
                 .convert = expression([](B &b, Value x) { return b.isNan(x); }),
                 .roles = {{everyOperand, OperandRole::NoGradient}}});
  operators.add("IsInf", 10,
                {.infer = inferIsInf,
                 .evaluate = evaluateIsInf,
                 .convert = convertIsInf,
                 .roles = {{everyOperand, OperandRole::NoGradient}}});
}

} // namespace mtc::onnx
