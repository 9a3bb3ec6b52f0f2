//===- Elementwise.cpp - Operators of one operand ---------------------------------------------===//

#include "frontend/convert/Converters.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// An operator that is one expression of its operand.
using Expression = Value (*)(TensorBuilder &b, Value x);

void add(Converters &converters, StringRef name, Expression expression) {
  converters.add(name, 1, [expression](Conversion &node) {
    return node.result(0, expression(node.b, node.value(0)));
  });
}

/// 1 / x.
Value reciprocal(TensorBuilder &b, Value x) { return b.div(b.splat(x, 1.0), x); }

/// (e^x - e^-x) / 2 and (e^x + e^-x) / 2, by e^x - 1 where the difference would cancel.
Value sinh(TensorBuilder &b, Value x) {
  Value half = b.splat(x, 0.5);
  return b.mul(half, b.sub(b.expm1(x), b.expm1(b.neg(x))));
}
Value cosh(TensorBuilder &b, Value x) {
  Value half = b.splat(x, 0.5);
  return b.mul(half, b.add(b.exp(x), b.exp(b.neg(x))));
}

/// s ln(a + sqrt(a² + 1)) with s = ±1 the side of x and a = s x >= 0, so that the derivative at 0
/// is
/// 1. Written with log1p: a + sqrt(a² + 1) - 1 = a + a² / (1 + sqrt(a² + 1)).
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

LogicalResult convertIdentity(Conversion &node) { return node.result(0, node.value(0)); }

/// To the element type that attribute `to` names, or that of the second operand. mtc's cast rounds
/// and saturates as the standard says for finite values in range.
LogicalResult convertCast(Conversion &node) {
  return node.result(0, node.b.cast(node.value(0), node.resultType().getElementType()));
}

/// Infinities of the signs asked for.
LogicalResult convertIsInf(Conversion &node) {
  bool negative = node.flag("detect_negative", true), positive = node.flag("detect_positive", true);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (!negative && !positive)
    return node.result(0, b.splat(node.resultType(), 0.0));
  Value checked = negative && positive ? b.abs(x) : negative ? b.neg(x) : x;
  return node.result(0, b.compare(Predicate::Eq, checked, b.splat(x, INFINITY)));
}

} // namespace

void registerElementwiseConverters(Converters &converters) {
  add(converters, "Neg", [](TensorBuilder &b, Value x) { return b.neg(x); });
  add(converters, "Abs", [](TensorBuilder &b, Value x) {
    return isUnsigned(typeOf(x).getElementType()) ? x : b.abs(x);
  });
  add(converters, "Exp", [](TensorBuilder &b, Value x) { return b.exp(x); });
  add(converters, "Log", [](TensorBuilder &b, Value x) { return b.log(x); });
  add(converters, "Sqrt", [](TensorBuilder &b, Value x) { return b.sqrt(x); });
  add(converters, "Reciprocal", reciprocal);
  add(converters, "Erf", [](TensorBuilder &b, Value x) { return b.erf(x); });
  add(converters, "Sin", [](TensorBuilder &b, Value x) { return b.sin(x); });
  add(converters, "Cos", [](TensorBuilder &b, Value x) { return b.cos(x); });
  add(converters, "Tan", [](TensorBuilder &b, Value x) { return b.div(b.sin(x), b.cos(x)); });
  add(converters, "Sinh", sinh);
  add(converters, "Cosh", cosh);
  add(converters, "Asinh", asinh);
  add(converters, "Acosh", acosh);
  add(converters, "Atanh", atanh);
  add(converters, "Sign", [](TensorBuilder &b, Value x) { return b.sign(x); });
  add(converters, "Floor",
      [](TensorBuilder &b, Value x) -> Value { return FloorOp::create(b, x); });
  add(converters, "Ceil", [](TensorBuilder &b, Value x) -> Value { return CeilOp::create(b, x); });
  add(converters, "Round",
      [](TensorBuilder &b, Value x) -> Value { return RoundOp::create(b, x); });
  add(converters, "Not", [](TensorBuilder &b, Value x) { return b.logicalNot(x); });
  add(converters, "IsNaN", [](TensorBuilder &b, Value x) { return b.isNan(x); });
  converters.add("Identity", 1, convertIdentity);
  converters.add("Cast", 6, convertCast);
  converters.add("CastLike", 15, convertCast);
  converters.add("IsInf", 10, convertIsInf);
}

} // namespace mtc::onnx
