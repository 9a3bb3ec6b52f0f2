// Number formats of element types, and conversions that are derived from them.
#include "runtime/devices/cpu/vector/convert.h"
#include "runtime/state/divergence.h"
#include "runtime/support/element_type.h"
#include "runtime/support/floats.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// Returns the value of the bits of a float format, by its definition.
double valueOf(const MtcFloatFormat &f, uint64_t bits) {
  const uint64_t fraction = bits & ((uint64_t{1} << f.fraction_bits) - 1);
  const uint64_t exponents = (uint64_t{1} << f.exponent_bits) - 1;
  const uint64_t exponent = bits >> f.fraction_bits & exponents;
  const double sign = bits >> (f.bits - 1) ? -1 : 1;
  if (f.infinity ? exponent == exponents : (bits & f.nan) == f.nan)
    return f.infinity && fraction == 0 ? sign * HUGE_VAL : NAN;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint64_t significand = exponent ? fraction | uint64_t{1} << f.fraction_bits : fraction;
  return sign *
         std::ldexp(static_cast<double>(significand),
                    static_cast<int>(std::max<uint64_t>(exponent, 1)) - bias - f.fraction_bits);
}

std::vector<uint32_t> floatTypes() {
  std::vector<uint32_t> types;
  for (uint32_t type = 0; type < MTC_TYPE_COUNT; ++type)
    if (mtc_float_format(type).bits)
      types.push_back(type);
  return types;
}

TEST(ElementTypes, AFormatFillsItsElement) {
  ASSERT_EQ(floatTypes().size(), 6u);
  for (uint32_t type : floatTypes()) {
    SCOPED_TRACE(typeName(type));
    const MtcFloatFormat f = mtc_float_format(type);
    EXPECT_EQ(f.bits, 8 * typeBytes(type));
    EXPECT_EQ(f.bits, 1 + f.exponent_bits + f.fraction_bits);
    EXPECT_TRUE(std::isnan(valueOf(f, f.nan)));
    if (f.infinity)
      EXPECT_EQ(valueOf(f, f.infinity), HUGE_VAL);
  }
  EXPECT_EQ(mtc_float_format(MTC_I16).bits, 0);
}

TEST(ElementTypes, NarrowTypesAreSummedInF32) {
  for (uint32_t type : {MTC_BF16, MTC_F16}) {
    EXPECT_TRUE(mtc_is_narrow_float(type));
    EXPECT_EQ(mtc_sum_type(type), MTC_F32);
  }
  for (uint32_t type : {MTC_F64, MTC_F32, MTC_I32, MTC_F8E4M3, MTC_F8E5M2})
    EXPECT_FALSE(mtc_is_narrow_float(type)) << typeName(type);
  EXPECT_EQ(mtc_sum_type(MTC_F64), MTC_F64);
  EXPECT_EQ(mtc_sum_type(MTC_F8E5M2), MTC_F32);
  EXPECT_EQ(mtc_sum_type(MTC_I8), MTC_I8);
  EXPECT_TRUE(mtc_has_small_range(MTC_F16));
  EXPECT_FALSE(mtc_has_small_range(MTC_BF16));
}

TEST(ElementTypes, AllNarrowElementsKeepTheirValueInF32AndBack) {
  for (uint32_t type : {MTC_BF16, MTC_F16}) {
    SCOPED_TRACE(typeName(type));
    const MtcFloatFormat f = mtc_float_format(type);
    std::vector<uint16_t> bits(1 << 16), back(bits.size()), vectors(bits.size());
    for (size_t i = 0; i < bits.size(); ++i)
      bits[i] = static_cast<uint16_t>(i);
    const auto count = static_cast<int64_t>(bits.size());
    auto bytes = [](auto &elements) { return reinterpret_cast<char *>(elements.data()); };
    std::vector<float> wide(bits.size());
    widenFloats(type, bytes(bits), count, wide.data());
    narrowFloats(type, wide.data(), count, bytes(back));
    narrowArray(type, wide.data(), count, bytes(vectors), 2);
    for (size_t i = 0; i < bits.size(); ++i) {
      const double expected = valueOf(f, i);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(wide[i])) << i;
        continue;
      }
      ASSERT_EQ(wide[i], expected) << i;
      ASSERT_EQ(back[i], bits[i]);
      ASSERT_EQ(vectors[i], bits[i]);
    }
  }
}

TEST(ElementTypes, FiniteElementsAreThoseWithAValue) {
  for (uint32_t type : floatTypes()) {
    const MtcFloatFormat f = mtc_float_format(type);
    if (f.bits > 16)
      continue;
    for (uint32_t bits = 0; bits < 1u << f.bits; ++bits)
      ASSERT_EQ(isFinite(type, reinterpret_cast<const char *>(&bits), f.bits / 8),
                std::isfinite(valueOf(f, bits)))
          << typeName(type) << ' ' << bits;
  }
  for (double value : {1.0, -HUGE_VAL, std::nan("")}) {
    const auto single = static_cast<float>(value);
    EXPECT_EQ(isFinite(MTC_F64, reinterpret_cast<const char *>(&value), 8), std::isfinite(value));
    EXPECT_EQ(isFinite(MTC_F32, reinterpret_cast<const char *>(&single), 4), std::isfinite(value));
  }
}

} // namespace
} // namespace mtc::runtime
