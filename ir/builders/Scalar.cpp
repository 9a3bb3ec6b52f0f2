//===- Scalar.cpp - Scalar operations of kernel bodies ----------------------------------------===//

#include "ir/builders/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mtc;

Type mtc::getScalarType(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return type.getWidth() < 32 ? Float32Type::get(element.getContext()) : type;
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
}

Value mtc::scalarConstant(OpBuilder &b, Location loc, Type type, double value) {
  TypedAttr attribute;
  if (auto floatType = dyn_cast<FloatType>(type))
    attribute = b.getFloatAttr(floatType, value);
  else if (type.isInteger(1))
    attribute = b.getBoolAttr(value != 0);
  else
    attribute = b.getIntegerAttr(type, static_cast<int64_t>(value));
  return arith::ConstantOp::create(b, loc, attribute);
}

Value mtc::scalarConstant(OpBuilder &b, Location loc, Attribute value, Type element) {
  Type type = getScalarType(element);
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat converted = number.getValue();
    bool losesInformation;
    converted.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &losesInformation);
    return arith::ConstantOp::create(b, loc, FloatAttr::get(type, converted));
  }
  return arith::ConstantOp::create(b, loc,
                                   IntegerAttr::get(type, cast<IntegerAttr>(value).getValue()));
}

/// Rounds an f32 scalar to a narrower storage type and back.
static Value roundToStorage(OpBuilder &b, Location loc, Value value, FloatType storage) {
  Value narrow = arith::TruncFOp::create(b, loc, storage, value);
  return arith::ExtFOp::create(b, loc, value.getType(), narrow);
}

/// Truncates a float toward 0, modulo 2^bits if 32 signed bits hold the integer, or 64 for targets
/// of 64 bits and unsigned ones of 32: processors differ in the results of arith.fptoui and
/// arith.fptosi out of range.
static Value truncateToInteger(OpBuilder &b, Location loc, Value value, IntegerType target,
                               bool isUnsigned) {
  unsigned width = target.getWidth();
  if (!isUnsigned && width >= 32)
    return arith::FPToSIOp::create(b, loc, target, value);
  if (width < 64) {
    Type wide = b.getIntegerType(width < 32 ? 32 : 64);
    Value whole = arith::FPToSIOp::create(b, loc, wide, value);
    return arith::TruncIOp::create(b, loc, target, whole);
  }
  Value isNegative = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, value,
                                           scalarConstant(b, loc, value.getType(), 0));
  return arith::SelectOp::create(b, loc, isNegative, arith::FPToSIOp::create(b, loc, target, value),
                                 arith::FPToUIOp::create(b, loc, target, value));
}

Value mtc::convertScalar(OpBuilder &b, Location loc, Value value, Type from, Type to) {
  if (from == to)
    return value;
  Type source = value.getType(), target = getScalarType(to);
  if (auto floatTarget = dyn_cast<FloatType>(target)) {
    Value result = value;
    if (auto floatSource = dyn_cast<FloatType>(source)) {
      if (floatSource.getWidth() < floatTarget.getWidth())
        result = arith::ExtFOp::create(b, loc, target, value);
      else if (floatSource.getWidth() > floatTarget.getWidth())
        result = arith::TruncFOp::create(b, loc, target, value);
    } else if (isUnsigned(from) || source.isInteger(1)) {
      result = arith::UIToFPOp::create(b, loc, target, value);
    } else {
      result = arith::SIToFPOp::create(b, loc, target, value);
    }
    auto storage = cast<FloatType>(to);
    return storage.getWidth() < 32 ? roundToStorage(b, loc, result, storage) : result;
  }
  if (target.isInteger(1)) {
    Value zero = scalarConstant(b, loc, source, 0);
    if (isa<FloatType>(source))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (isa<FloatType>(source))
    return truncateToInteger(b, loc, value, cast<IntegerType>(target), isUnsigned(to));
  unsigned sourceWidth = source.getIntOrFloatBitWidth();
  unsigned targetWidth = target.getIntOrFloatBitWidth();
  if (sourceWidth > targetWidth)
    return arith::TruncIOp::create(b, loc, target, value);
  if (sourceWidth == targetWidth)
    return value;
  if (isUnsigned(from) || source.isInteger(1))
    return arith::ExtUIOp::create(b, loc, target, value);
  return arith::ExtSIOp::create(b, loc, target, value);
}

Value mtc::combineScalars(OpBuilder &b, Location loc, ReductionKind kind, Value lhs, Value rhs,
                          bool isUnsigned) {
  switch (kind) {
  case ReductionKind::Add:
    return detail::arithmetic<arith::AddFOp, arith::AddIOp>(b, loc, lhs, rhs);
  case ReductionKind::Mul:
    return detail::arithmetic<arith::MulFOp, arith::MulIOp>(b, loc, lhs, rhs);
  case ReductionKind::Max:
  case ReductionKind::Min:
    return detail::buildExtremum(b, loc, lhs, rhs, isUnsigned, kind == ReductionKind::Max);
  case ReductionKind::And:
    return arith::AndIOp::create(b, loc, lhs, rhs);
  case ReductionKind::Or:
    return arith::OrIOp::create(b, loc, lhs, rhs);
  }
  llvm_unreachable("all kinds are covered");
}

TypedAttr mtc::neutralElement(ReductionKind kind, Type scalar, bool isUnsigned) {
  Builder b(scalar.getContext());
  if (auto type = dyn_cast<FloatType>(scalar)) {
    double infinity = std::numeric_limits<double>::infinity();
    switch (kind) {
    case ReductionKind::Mul:
      return b.getFloatAttr(type, 1.0);
    case ReductionKind::Max:
      return b.getFloatAttr(type, -infinity);
    case ReductionKind::Min:
      return b.getFloatAttr(type, infinity);
    default:
      return b.getFloatAttr(type, 0.0);
    }
  }
  unsigned width = scalar.getIntOrFloatBitWidth();
  switch (kind) {
  case ReductionKind::Mul:
    return b.getIntegerAttr(scalar, 1);
  case ReductionKind::And:
    return b.getIntegerAttr(scalar, APInt::getAllOnes(width));
  case ReductionKind::Max:
    return b.getIntegerAttr(scalar,
                            isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width));
  case ReductionKind::Min:
    return b.getIntegerAttr(scalar, isUnsigned ? APInt::getMaxValue(width)
                                               : APInt::getSignedMaxValue(width));
  default:
    return b.getIntegerAttr(scalar, 0);
  }
}

/// Builds 1 / (1 + e^-x). For x below about -88 (f32), e^-x is infinite and the quotient is 0, the
/// correct limit. The gradient is a function of y, so infinities do not affect it.
Value mtc::detail::buildLogistic(OpBuilder &b, Location loc, Value x) {
  Value one = scalarConstant(b, loc, x.getType(), 1);
  Value e = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
  return arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, one, e));
}

Value mtc::detail::buildShift(OpBuilder &b, Location loc, Value x, Value by, bool isLeft) {
  Type type = x.getType();
  Value zero = scalarConstant(b, loc, type, 0);
  Value width = scalarConstant(b, loc, type, type.getIntOrFloatBitWidth());
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, by, width);
  Value places = arith::SelectOp::create(b, loc, fits, by, zero);
  Value moved = isLeft ? arith::ShLIOp::create(b, loc, x, places).getResult()
                       : arith::ShRUIOp::create(b, loc, x, places).getResult();
  return arith::SelectOp::create(b, loc, fits, moved, zero);
}

Value mtc::detail::buildSign(OpBuilder &b, Location loc, Value x, bool isUnsigned) {
  Value zero = scalarConstant(b, loc, x.getType(), 0);
  Value one = scalarConstant(b, loc, x.getType(), 1);
  Value minusOne = scalarConstant(b, loc, x.getType(), -1);
  Value positive, negative;
  if (isa<FloatType>(x.getType())) {
    positive = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, zero);
    negative = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, zero);
    // Zero and NaN are returned unchanged.
    Value rest = arith::SelectOp::create(b, loc, negative, minusOne, x);
    return arith::SelectOp::create(b, loc, positive, one, rest);
  }
  if (isUnsigned)
    return arith::MinUIOp::create(b, loc, x, one);
  positive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, zero);
  negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, zero);
  Value rest = arith::SelectOp::create(b, loc, negative, minusOne, zero);
  return arith::SelectOp::create(b, loc, positive, one, rest);
}

/// Replaces an integer divisor of 0 by 1: division by zero, which is undefined in ONNX, must not
/// trap.
static Value avoidZero(OpBuilder &b, Location loc, Value divisor) {
  Value zero = scalarConstant(b, loc, divisor.getType(), 0);
  Value one = scalarConstant(b, loc, divisor.getType(), 1);
  Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, divisor, zero);
  return arith::SelectOp::create(b, loc, isZero, one, divisor);
}

Value mtc::detail::buildHighHalf(OpBuilder &b, Location loc, Value bits) {
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value up = arith::AddIOp::create(b, loc, bits, constant(1 << 15));
  Value high = arith::AndIOp::create(b, loc, up, constant(-(1 << 16)));
  return arith::BitcastOp::create(b, loc, b.getF32Type(), high);
}

Value mtc::detail::buildDivision(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return arith::DivFOp::create(b, loc, x, y);
  y = avoidZero(b, loc, y);
  if (isUnsigned)
    return arith::DivUIOp::create(b, loc, x, y);
  return arith::DivSIOp::create(b, loc, x, y);
}

Value mtc::detail::buildRemainder(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return arith::RemFOp::create(b, loc, x, y);
  y = avoidZero(b, loc, y);
  if (isUnsigned)
    return arith::RemUIOp::create(b, loc, x, y);
  return arith::RemSIOp::create(b, loc, x, y);
}

Value mtc::detail::buildExtremum(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned,
                                 bool isMaximum) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType()))) {
    if (isMaximum)
      return arith::MaximumFOp::create(b, loc, x, y);
    return arith::MinimumFOp::create(b, loc, x, y);
  }
  if (isUnsigned) {
    if (isMaximum)
      return arith::MaxUIOp::create(b, loc, x, y);
    return arith::MinUIOp::create(b, loc, x, y);
  }
  if (isMaximum)
    return arith::MaxSIOp::create(b, loc, x, y);
  return arith::MinSIOp::create(b, loc, x, y);
}

Value mtc::detail::buildComparison(OpBuilder &b, Location loc, Predicate predicate, Value x,
                                   Value y, bool isUnsigned) {
  struct Row {
    arith::CmpFPredicate onFloat;
    arith::CmpIPredicate onSigned, onUnsigned;
  };
  static const Row table[] = {
      {arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq},
      {arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, arith::CmpIPredicate::ne},
      {arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, arith::CmpIPredicate::ult},
      {arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, arith::CmpIPredicate::ule},
      {arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt},
      {arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge, arith::CmpIPredicate::uge},
  };
  const Row &row = table[static_cast<unsigned>(predicate)];
  if (isa<FloatType>(x.getType()))
    return arith::CmpFOp::create(b, loc, row.onFloat, x, y);
  // Unsigned comparison orders i1 false before true.
  bool asUnsigned = isUnsigned || x.getType().isInteger(1);
  return arith::CmpIOp::create(b, loc, asUnsigned ? row.onUnsigned : row.onSigned, x, y);
}
