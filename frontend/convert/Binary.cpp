//===- Binary.cpp - Operators of several operands that broadcast ------------------------------===//

#include "frontend/convert/Converters.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

using Combination = Value (*)(TensorBuilder &b, Value lhs, Value rhs);

/// All operands, folded from the left: Add and its like have two, Max and its like any number.
void add(Converters &converters, StringRef name, int64_t sinceVersion, Combination combine) {
  converters.add(name, sinceVersion, [combine](Conversion &node) {
    ArrayRef<int64_t> shape = node.resultShape();
    Value y = node.broadcastValue(0, shape);
    for (size_t i = 1; i < node.operandCount(); ++i)
      y = combine(node.b, y, node.broadcastValue(i, shape));
    return node.result(0, y);
  });
}

void addComparison(Converters &converters, StringRef name, int64_t sinceVersion,
                   Predicate predicate) {
  converters.add(name, sinceVersion, [predicate](Conversion &node) {
    ArrayRef<int64_t> shape = node.resultShape();
    return node.result(
        0, node.b.compare(predicate, node.broadcastValue(0, shape), node.broadcastValue(1, shape)));
  });
}

LogicalResult convertMean(Conversion &node) {
  ArrayRef<int64_t> shape = node.resultShape();
  Value sum = node.broadcastValue(0, shape);
  for (size_t i = 1; i < node.operandCount(); ++i)
    sum = node.b.add(sum, node.broadcastValue(i, shape));
  double scale = 1.0 / static_cast<double>(node.operandCount());
  return node.result(0, node.b.mul(sum, node.b.splat(sum, scale)));
}

LogicalResult convertWhere(Conversion &node) {
  ArrayRef<int64_t> shape = node.resultShape();
  return node.result(0, node.b.select(node.broadcastValue(0, shape), node.broadcastValue(1, shape),
                                      node.broadcastValue(2, shape)));
}

/// The remainder has the dividend's sign with fmod = 1 and the divisor's without, as in Python.
LogicalResult convertMod(Conversion &node) {
  bool fmod = node.flag("fmod", false);
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

/// x^n for small whole n >= 1 by repeated multiplication, in ⌈log2 n⌉ + (ones of n) products at
/// most.
Value power(TensorBuilder &b, Value x, int64_t n) {
  Value result;
  for (Value square = x; n > 0; n /= 2) {
    if (n % 2)
      result = result ? b.mul(result, square) : square;
    if (n > 1)
      square = b.mul(square, square);
  }
  return result;
}

/// x^exponent for the constant exponents that have a simpler form; null for others.
Value powerByConstant(TensorBuilder &b, Value x, double exponent) {
  if (exponent >= 1 && exponent <= 8 && exponent == std::floor(exponent))
    return power(b, x, static_cast<int64_t>(exponent));
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

/// The result has the base's element type. Mixed and integer operands meet in f64, which holds
/// 32-bit integers.
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
  // A whole power may come out a rounding error below the integer that it is.
  if (!isa<FloatType>(base) && !isa<FloatType>(exponent))
    result = RoundOp::create(b, result);
  return node.result(0, b.cast(result, base));
}

} // namespace

void registerBinaryConverters(Converters &converters) {
  // Before version 7 operands broadcast only by attributes.
  add(converters, "Add", 7, [](TensorBuilder &b, Value x, Value y) { return b.add(x, y); });
  add(converters, "Sub", 7, [](TensorBuilder &b, Value x, Value y) { return b.sub(x, y); });
  add(converters, "Mul", 7, [](TensorBuilder &b, Value x, Value y) { return b.mul(x, y); });
  add(converters, "Div", 7, [](TensorBuilder &b, Value x, Value y) { return b.div(x, y); });
  add(converters, "And", 7, [](TensorBuilder &b, Value x, Value y) { return b.logicalAnd(x, y); });
  add(converters, "Or", 7, [](TensorBuilder &b, Value x, Value y) { return b.logicalOr(x, y); });
  add(converters, "Xor", 7,
      [](TensorBuilder &b, Value x, Value y) -> Value { return XorOp::create(b, x, y); });
  add(converters, "Max", 6, [](TensorBuilder &b, Value x, Value y) { return b.max(x, y); });
  add(converters, "Min", 6, [](TensorBuilder &b, Value x, Value y) { return b.min(x, y); });
  add(converters, "Sum", 6, [](TensorBuilder &b, Value x, Value y) { return b.add(x, y); });
  addComparison(converters, "Equal", 7, Predicate::Eq);
  addComparison(converters, "Less", 7, Predicate::Lt);
  addComparison(converters, "LessOrEqual", 12, Predicate::Le);
  addComparison(converters, "Greater", 7, Predicate::Gt);
  addComparison(converters, "GreaterOrEqual", 12, Predicate::Ge);
  converters.add("Mean", 6, convertMean);
  converters.add("Where", 9, convertWhere);
  converters.add("Mod", 10, convertMod);
  converters.add("Pow", 7, convertPow);
}

} // namespace mtc::onnx
