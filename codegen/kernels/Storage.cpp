//===- Storage.cpp - Elements in memory and the scalars that stand for them -------------------===//

#include "codegen/kernels/Storage.h"

#include "ir/Mtc.h"
#include "ir/Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;

Type mtc::withShapeOf(Type type, Type like) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), type);
  return type;
}

Value mtc::splatConstant(ImplicitLocOpBuilder &b, TypedAttr value, Type like) {
  if (auto vector = dyn_cast<VectorType>(like))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get(vector.getShape(), value.getType()),
                                  ArrayRef<Attribute>(value)));
  return arith::ConstantOp::create(b, value);
}

bool mtc::isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

Type mtc::getStorageType(Type element) {
  if (isFloat8(element) || element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<FloatType>(element))
    return element;
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
}

Value mtc::fromStorage(ImplicitLocOpBuilder &b, Value stored, Type element) {
  Type type = withShapeOf(getScalarType(element), stored.getType());
  if (element.isInteger(1)) {
    Value zero = splatConstant(b, b.getI8IntegerAttr(0), stored.getType());
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored, zero);
  }
  if (isFloat8(element))
    return decodeFloat8(b, stored, element);
  if (type != stored.getType())
    return arith::ExtFOp::create(b, type, stored);
  return stored;
}

Value mtc::toStorage(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type type = withShapeOf(getStorageType(element), value.getType());
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, type, value);
  if (isFloat8(element))
    return encodeFloat8(b, value, element);
  if (type != value.getType())
    return arith::TruncFOp::create(b, type, value);
  return value;
}

namespace {

/// Bits of f32 values and of what they become.
class Float8Builder {
public:
  Float8Builder(ImplicitLocOpBuilder &b, Type like, Type float8)
      : b(b), like(like), i32(withShapeOf(b.getI32Type(), like)),
        f32(withShapeOf(b.getF32Type(), like)), i8(withShapeOf(b.getI8Type(), like)),
        isE5M2(isa<Float8E5M2Type>(float8)) {}

  /// Rounds by adding half of the last kept place, or by an addition that aligns the mantissa of
  /// what becomes subnormal.
  Value encode(Value value) {
    int mantissaBits = isE5M2 ? 2 : 3, bias = isE5M2 ? 15 : 7, dropped = 23 - mantissaBits;
    Value bits = arith::BitcastOp::create(b, i32, value);
    Value sign = arith::AndIOp::create(b, bits, constant(0x80000000u));
    Value magnitude = arith::XOrIOp::create(b, bits, sign);

    Value odd = arith::AndIOp::create(b, shiftRight(magnitude, dropped), constant(1));
    uint32_t rebias = (static_cast<uint32_t>(bias - 127) << 23) + (1u << (dropped - 1)) - 1;
    Value rounded = arith::AddIOp::create(b, magnitude, constant(rebias));
    Value normal = shiftRight(arith::AddIOp::create(b, rounded, odd), dropped);

    // 2^e such that the last place of the sum is the least subnormal.
    uint32_t aligner = static_cast<uint32_t>(127 + 1 - bias + dropped) << 23;
    Value alignerFloat = arith::BitcastOp::create(b, f32, constant(aligner));
    Value small = arith::BitcastOp::create(b, f32, magnitude);
    Value sum = arith::AddFOp::create(b, small, alignerFloat);
    Value subnormal =
        arith::SubIOp::create(b, arith::BitcastOp::create(b, i32, sum), constant(aligner));

    Value isSubnormal =
        compare(arith::CmpIPredicate::ult, magnitude, static_cast<uint32_t>(127 + 1 - bias) << 23);
    Value finite = arith::SelectOp::create(b, isSubnormal, subnormal, normal);
    // The least magnitude that rounds to what the type cannot hold.
    uint32_t limit = isE5M2 ? 0x47700000u /* 61440 */ : 0x43e80000u /* 464 */;
    auto overflow = isE5M2 ? arith::CmpIPredicate::uge : arith::CmpIPredicate::ugt;
    Value tooLarge = compare(overflow, magnitude, limit);
    Value result = arith::SelectOp::create(b, tooLarge, constant(isE5M2 ? 0x7c : 0x7f), finite);
    Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000u);
    result = arith::SelectOp::create(b, isNan, constant(0x7f), result);
    result = arith::OrIOp::create(b, result, shiftRight(sign, 24));
    return arith::TruncIOp::create(b, i8, result);
  }

  Value decode(Value stored) {
    int mantissaBits = isE5M2 ? 2 : 3, bias = isE5M2 ? 15 : 7;
    Value bits = arith::ExtUIOp::create(b, i32, stored);
    Value sign = arith::AndIOp::create(b, bits, constant(0x80));
    Value magnitude = arith::XOrIOp::create(b, bits, sign);
    // As the bits of an f32 the value is too small by the difference of the biases; the product is
    // exact for subnormal numbers too.
    Value shifted = arith::ShLIOp::create(b, magnitude, constant(23 - mantissaBits));
    Value scale =
        arith::BitcastOp::create(b, f32, constant(static_cast<uint32_t>(127 + 127 - bias) << 23));
    Value scaled = arith::MulFOp::create(b, arith::BitcastOp::create(b, f32, shifted), scale);
    Value result = arith::BitcastOp::create(b, i32, scaled);
    if (isE5M2) {
      Value isInfinite = compare(arith::CmpIPredicate::eq, magnitude, 0x7c);
      result = arith::SelectOp::create(b, isInfinite, constant(0x7f800000u), result);
    }
    Value isNan = isE5M2 ? compare(arith::CmpIPredicate::ugt, magnitude, 0x7c)
                         : compare(arith::CmpIPredicate::eq, magnitude, 0x7f);
    result = arith::SelectOp::create(b, isNan, constant(0x7fc00000u), result);
    result = arith::OrIOp::create(b, result, arith::ShLIOp::create(b, sign, constant(24)));
    return arith::BitcastOp::create(b, f32, result);
  }

private:
  Value constant(uint32_t value) {
    return splatConstant(b, b.getI32IntegerAttr(static_cast<int32_t>(value)), like);
  }
  Value shiftRight(Value value, int amount) {
    return arith::ShRUIOp::create(b, value, constant(amount));
  }
  Value compare(arith::CmpIPredicate predicate, Value value, uint32_t with) {
    return arith::CmpIOp::create(b, predicate, value, constant(with));
  }

  ImplicitLocOpBuilder &b;
  Type like, i32, f32, i8;
  bool isE5M2;
};

} // namespace

Value mtc::encodeFloat8(ImplicitLocOpBuilder &b, Value value, Type float8) {
  return Float8Builder(b, value.getType(), float8).encode(value);
}

Value mtc::decodeFloat8(ImplicitLocOpBuilder &b, Value bits, Type float8) {
  return Float8Builder(b, bits.getType(), float8).decode(bits);
}
