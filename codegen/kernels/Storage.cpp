//===- Storage.cpp - Conversion between stored elements and scalars ---------------------------===//

#include "codegen/kernels/Storage.h"

#include "ir/Mtc.h"
#include "ir/TypeCode.h"
#include "ir/builders/Scalar.h"
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

bool mtc::isFloat8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

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
    return decodeNarrow(b, stored, element);
  if (type != stored.getType())
    return arith::ExtFOp::create(b, type, stored);
  return stored;
}

Value mtc::toStorage(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type type = withShapeOf(getStorageType(element), value.getType());
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, type, value);
  if (isFloat8(element))
    return encodeNarrow(b, value, element);
  if (type != value.getType())
    return arith::TruncFOp::create(b, type, value);
  return value;
}

namespace {

/// A float format with fewer exponents than f32.
struct NarrowFormat {
  int bits, fractionBits, bias;
  uint32_t nan;
  std::optional<uint32_t> infinity;
  uint32_t largest; ///< f32 bits of the greatest magnitude that rounds to a finite value

  explicit NarrowFormat(const MtcFloatFormat &format)
      : bits(format.bits), fractionBits(format.fraction_bits),
        bias((1 << (format.exponent_bits - 1)) - 1), nan(static_cast<uint32_t>(format.nan)) {
    if (format.infinity)
      infinity = static_cast<uint32_t>(format.infinity);
    // Half a unit in the last place above the greatest finite value. Ties round to even.
    const uint32_t greatest = infinity.value_or(nan) - 1;
    const uint32_t tie = (greatest << (23 - fractionBits)) +
                         (static_cast<uint32_t>(127 - bias) << 23) + (1u << (22 - fractionBits));
    largest = greatest & 1 ? tie - 1 : tie;
  }
};

/// Emits conversions between the bits of f32 and of a narrow float.
class NarrowFloatBuilder {
public:
  NarrowFloatBuilder(ImplicitLocOpBuilder &b, Type like, Type narrow)
      : b(b), like(like), i32(withShapeOf(b.getI32Type(), like)),
        f32(withShapeOf(b.getF32Type(), like)), format(mtc_float_format(typeCode(narrow))) {}

  /// Rounds by adding half a unit of the last mantissa bit. Subnormal results are rounded by an f32
  /// addition that aligns the mantissa.
  Value encode(Value value) {
    int bias = format.bias, dropped = 23 - format.fractionBits;
    Value bits = arith::BitcastOp::create(b, i32, value);
    Value sign = arith::AndIOp::create(b, bits, constant(0x80000000u));
    Value magnitude = arith::XOrIOp::create(b, bits, sign);

    Value odd = arith::AndIOp::create(b, shiftRight(magnitude, dropped), constant(1));
    uint32_t rebias = (static_cast<uint32_t>(bias - 127) << 23) + (1u << (dropped - 1)) - 1;
    Value rounded = arith::AddIOp::create(b, magnitude, constant(rebias));
    Value normal = shiftRight(arith::AddIOp::create(b, rounded, odd), dropped);

    // 2^e such that the last place of the sum is the smallest subnormal.
    uint32_t aligner = static_cast<uint32_t>(127 + 1 - bias + dropped) << 23;
    Value alignerFloat = arith::BitcastOp::create(b, f32, constant(aligner));
    Value small = arith::BitcastOp::create(b, f32, magnitude);
    Value sum = arith::AddFOp::create(b, small, alignerFloat);
    Value subnormal =
        arith::SubIOp::create(b, arith::BitcastOp::create(b, i32, sum), constant(aligner));

    Value isSubnormal =
        compare(arith::CmpIPredicate::ult, magnitude, static_cast<uint32_t>(127 + 1 - bias) << 23);
    Value finite = arith::SelectOp::create(b, isSubnormal, subnormal, normal);
    Value tooLarge = compare(arith::CmpIPredicate::ugt, magnitude, format.largest);
    Value overflow = constant(format.infinity.value_or(format.nan));
    Value result = arith::SelectOp::create(b, tooLarge, overflow, finite);
    Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000u);
    result = arith::SelectOp::create(b, isNan, constant(format.nan), result);
    result = arith::OrIOp::create(b, result, shiftRight(sign, 32 - format.bits));
    return arith::TruncIOp::create(b, withShapeOf(b.getIntegerType(format.bits), like), result);
  }

  Value decode(Value stored) {
    Value bits = arith::ExtUIOp::create(b, i32, stored);
    Value sign = arith::AndIOp::create(b, bits, constant(1u << (format.bits - 1)));
    Value magnitude = arith::XOrIOp::create(b, bits, sign);
    // Reinterpreted as an f32, the value is too small by a factor of 2^(difference of the biases).
    // The multiplication is exact for subnormal numbers, too.
    Value shifted = arith::ShLIOp::create(b, magnitude, constant(23 - format.fractionBits));
    Value scale = arith::BitcastOp::create(
        b, f32, constant(static_cast<uint32_t>(127 + 127 - format.bias) << 23));
    Value scaled = arith::MulFOp::create(b, arith::BitcastOp::create(b, f32, shifted), scale);
    Value result = arith::BitcastOp::create(b, i32, scaled);
    if (format.infinity) {
      Value isInfinite = compare(arith::CmpIPredicate::eq, magnitude, *format.infinity);
      result = arith::SelectOp::create(b, isInfinite, constant(0x7f800000u), result);
    }
    Value isNan = format.infinity ? compare(arith::CmpIPredicate::ugt, magnitude, *format.infinity)
                                  : compare(arith::CmpIPredicate::eq, magnitude, format.nan);
    result = arith::SelectOp::create(b, isNan, constant(0x7fc00000u), result);
    result =
        arith::OrIOp::create(b, result, arith::ShLIOp::create(b, sign, constant(32 - format.bits)));
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
  Type like, i32, f32;
  NarrowFormat format;
};

} // namespace

Value mtc::encodeNarrow(ImplicitLocOpBuilder &b, Value value, Type narrow) {
  return NarrowFloatBuilder(b, value.getType(), narrow).encode(value);
}

Value mtc::decodeNarrow(ImplicitLocOpBuilder &b, Value bits, Type narrow) {
  return NarrowFloatBuilder(b, bits.getType(), narrow).decode(bits);
}
