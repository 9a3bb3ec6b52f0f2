//===- Arithmetic.cpp - Arithmetic with broadcasting ------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Broadcast.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Sum, product, minimum, maximum -------------------------------------------------------===//

/// Integer division truncates toward zero, as in C. Cases that are undefined in C return 0 (x / 0)
/// or wrap around (INT64_MIN / -1).
template <typename T> T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else if constexpr (std::is_signed_v<T>)
    return b == 0 ? 0 : b == -1 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a / b;
  else
    return b == 0 ? 0 : a / b;
}

/// NaN propagates, as in NumPy.
template <typename T> T maximum(T a, T b) { return a != a || a > b ? a : b; }
template <typename T> T minimum(T a, T b) { return a != a || a < b ? a : b; }

/// Registers an operator on operands of one element type, folded from left to right. Add and
/// similar operators have two operands, Max and similar operators any number.
template <typename Compute>
void addArithmetic(Operators &operators, StringRef name, int64_t version, Compute compute,
                   Value (*build)(TensorBuilder &b, Value x, Value y)) {
  operators.add(
      name, version,
      {.infer = inferArithmetic,
       .evaluate = [compute](Inference &node) { foldOperands(node, compute); },
       .convert =
           [build](Conversion &node) { return node.result(0, combineOperands(node, build)); }});
}

LogicalResult inferMean(Inference &node) {
  return success(node.floatElements(0) && succeeded(inferArithmetic(node)));
}

/// Sums all operands and divides by their number.
void evaluateMean(Inference &node) {
  auto count = static_cast<double>(node.operandCount());
  foldOperands(node, [](auto a, auto b) { return sumOf(a, b); });
  if (!node.folded(0))
    return;
  dispatchFloat(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    node.fold(0, mapStored<T>(*node.folded(0), node.resultType(),
                              [&](T value) { return value / static_cast<T>(count); }));
  });
}

LogicalResult convertMean(Conversion &node) {
  Value sum = combineOperands(
      node, [](TensorBuilder &b, Value x, Value y) -> Value { return b.add(x, y); });
  double scale = 1.0 / static_cast<double>(node.operandCount());
  return node.result(0, node.b.mul(sum, node.b.splat(sum, scale)));
}

//===--- Mod ----------------------------------------------------------------------------------===//

/// Returns whether the remainder has the sign of the dividend (C) instead of the divisor (Python).
bool hasDividendSign(NodeView &node) { return node.flag("fmod", false); }

/// Returns the remainder with the divisor's sign (Python), or with `fmod` the dividend's sign (C).
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

LogicalResult inferMod(Inference &node) {
  if (!hasDividendSign(node) && isa<FloatType>(node.elementType(0)))
    return node.failure("attribute fmod = 0, expected 1 for floating-point operands");
  return inferArithmetic(node);
}

void evaluateMod(Inference &node) {
  bool fmod = hasDividendSign(node);
  foldOperands(node, [fmod](auto a, auto b) { return remainder(a, b, fmod); });
}

LogicalResult convertMod(Conversion &node) {
  bool fmod = hasDividendSign(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.broadcastValue(0, node.resultShape());
  Value y = node.broadcastValue(1, node.resultShape());
  Value r = b.rem(x, y);
  if (fmod || isUnsigned(node.elementType(0)))
    return node.result(0, r);
  Value zero = b.splat(r, 0.0);
  Value signsDiffer =
      XorOp::create(b, b.compare(Predicate::Lt, r, zero), b.compare(Predicate::Lt, y, zero));
  Value wrong = b.logicalAnd(b.compare(Predicate::Ne, r, zero), signsDiffer);
  return node.result(0, b.select(wrong, b.add(r, y), r));
}

//===--- Pow ----------------------------------------------------------------------------------===//

/// The result has the base's element type, regardless of the exponent's.
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
  Tensor base = node.storedTensor(0), exponent = node.storedTensor(1);
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

/// Returns x^n for small integers n >= 1 by repeated squaring, in at most ⌈log2 n⌉ + popcount(n)
/// multiplications.
Value wholePower(TensorBuilder &b, Value x, int64_t n) {
  Value result;
  for (Value square = x; n > 0; n /= 2) {
    if (n % 2)
      result = result ? b.mul(result, square) : square;
    if (n > 1)
      square = b.mul(square, square);
  }
  return result;
}

/// Returns x^exponent for constant exponents with a simpler form; null for others.
Value powerByConstant(TensorBuilder &b, Value x, double exponent) {
  if (exponent >= 1 && exponent <= 8 && exponent == std::floor(exponent))
    return wholePower(b, x, static_cast<int64_t>(exponent));
  if (!isa<FloatType>(typeOf(x).getElementType()))
    return {};
  if (exponent == 0.5)
    return b.sqrt(x);
  if (exponent == -0.5)
    return b.rsqrt(x);
  if (exponent == -1)
    return b.div(b.splat(x, 1.0), x);
  return {};
}

/// The result has the base's element type. Integer and mixed operands are computed in f64, which
/// represents 32-bit integers exactly.
LogicalResult convertPow(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = node.broadcastValue(0, node.resultShape());
  std::optional<SmallVector<double>> exponents = node.constantFloats(1);
  if (exponents && llvm::all_equal(*exponents))
    if (Value simple = powerByConstant(b, x, exponents->front()))
      return node.result(0, simple);
  Type base = node.elementType(0), exponent = node.elementType(1), common = base;
  if (!isa<FloatType>(base))
    common = isa<FloatType>(exponent) && exponent.getIntOrFloatBitWidth() > 32
                 ? exponent
                 : Type(b.getF64Type());
  Value y = b.cast(node.broadcastValue(1, node.resultShape()), common);
  Value result = b.pow(b.cast(x, common), y);
  // An integer power may be a rounding error below the exact result.
  if (!isa<FloatType>(base) && !isa<FloatType>(exponent))
    result = RoundOp::create(b, result);
  return node.result(0, b.cast(result, base));
}

/// A root whose gradient at 0 is 0. This is not an ONNX operator; a pass that recognizes exported
/// patterns creates it.
LogicalResult convertSafeRoot(Conversion &node) {
  return node.result(0, safeRoot(node.b, node.value(0), node.floating("exponent")));
}

} // namespace

void addArithmeticOperators(Operators &operators) {
  using B = TensorBuilder;
  // Before version 7, operands broadcast only if attributes request it.
  addArithmetic(
      operators, "Add", 7, [](auto a, auto b) { return sumOf(a, b); },
      [](B &b, Value x, Value y) { return b.add(x, y); });
  addArithmetic(
      operators, "Sub", 7, [](auto a, auto b) { return differenceOf(a, b); },
      [](B &b, Value x, Value y) { return b.sub(x, y); });
  addArithmetic(
      operators, "Mul", 7, [](auto a, auto b) { return productOf(a, b); },
      [](B &b, Value x, Value y) { return b.mul(x, y); });
  addArithmetic(
      operators, "Div", 7, [](auto a, auto b) { return divide(a, b); },
      [](B &b, Value x, Value y) { return b.div(x, y); });
  addArithmetic(
      operators, "Max", 6, [](auto a, auto b) { return maximum(a, b); },
      [](B &b, Value x, Value y) { return b.max(x, y); });
  addArithmetic(
      operators, "Min", 6, [](auto a, auto b) { return minimum(a, b); },
      [](B &b, Value x, Value y) { return b.min(x, y); });
  addArithmetic(
      operators, "Sum", 6, [](auto a, auto b) { return sumOf(a, b); },
      [](B &b, Value x, Value y) { return b.add(x, y); });
  operators.add("Mean", 6, {.infer = inferMean, .evaluate = evaluateMean, .convert = convertMean});
  operators.add("Mod", 10, {.infer = inferMod, .evaluate = evaluateMod, .convert = convertMod});
  operators.add("Pow", 7, {.infer = inferPow, .evaluate = evaluatePow, .convert = convertPow});
  operators.add("mtc::SafeRoot", 1, {.convert = convertSafeRoot});
}

} // namespace mtc::onnx
