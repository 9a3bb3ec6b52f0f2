// Conversions between element types: exact for integers, rounded for floats, refused beyond ranges.
#include "runtime/data/value_conversion.h"

#include "runtime/abi/program.h"
#include "runtime/support/element_type.h"
#include "test/runtime/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

template <typename To> struct Converted {
  int64_t valid;
  std::vector<To> values;
};

template <typename To, typename From>
Converted<To> convert(uint32_t fromType, const std::vector<From> &from, uint32_t toType) {
  Converted<To> result{0, std::vector<To>(from.size())};
  result.valid = convertValues(fromType, reinterpret_cast<const char *>(from.data()),
                               static_cast<int64_t>(from.size()), toType,
                               reinterpret_cast<char *>(result.values.data()));
  return result;
}

TEST(ValueConversion, IntegersKeepTheirValueOrAreRefused) {
  const auto wide = convert<int64_t, uint8_t>(MTC_U8, {0, 1, 255}, MTC_I64);
  EXPECT_EQ(wide.valid, 3);
  EXPECT_EQ(wide.values, (std::vector<int64_t>{0, 1, 255}));
  EXPECT_EQ((convert<uint8_t, int64_t>(MTC_I64, {0, 255, 256}, MTC_U8).valid), 2);
  EXPECT_EQ((convert<uint8_t, int64_t>(MTC_I64, {0, -1}, MTC_U8).valid), 1);
  EXPECT_EQ((convert<int64_t, uint64_t>(MTC_U64, {1, 1ull << 63}, MTC_I64).valid), 1);
  EXPECT_EQ((convert<uint8_t, int32_t>(MTC_I32, {0, 1, 2}, MTC_BOOL).valid), 2);
}

TEST(ValueConversion, NonzeroBooleansAreOne) {
  const auto same = convert<uint8_t, uint8_t>(MTC_BOOL, {0, 1, 2, 255}, MTC_BOOL);
  EXPECT_EQ(same.values, (std::vector<uint8_t>{0, 1, 1, 1}));
  const auto floats = convert<float, uint8_t>(MTC_BOOL, {0, 7}, MTC_F32);
  EXPECT_EQ(floats.values, (std::vector<float>{0, 1}));
}

TEST(ValueConversion, WholeFloatsBecomeIntegers) {
  const auto exact = convert<int32_t, double>(MTC_F64, {-2, 0, 2147483647.0}, MTC_I32);
  EXPECT_EQ(exact.valid, 3);
  EXPECT_EQ(exact.values.back(), 2147483647);
  EXPECT_EQ((convert<int32_t, double>(MTC_F64, {0, 2147483648.0}, MTC_I32).valid), 1);
  EXPECT_EQ((convert<int32_t, double>(MTC_F64, {0, 0.5}, MTC_I32).valid), 1);
  EXPECT_EQ((convert<int32_t, float>(MTC_F32, {NAN}, MTC_I32).valid), 0);
  EXPECT_EQ((convert<int64_t, float>(MTC_F32, {0x1p63F}, MTC_I64).valid), 0);
  EXPECT_EQ((convert<uint8_t, float>(MTC_F32, {1, 2}, MTC_BOOL).valid), 1);
}

TEST(ValueConversion, FloatsAreRoundedWithinTheirRange) {
  const auto narrow = convert<float, double>(MTC_F64, {0.1, -INFINITY, 1e39}, MTC_F32);
  EXPECT_EQ(narrow.valid, 2);
  EXPECT_EQ(narrow.values[0], 0.1F);
  EXPECT_EQ(narrow.values[1], -INFINITY);
  const auto half = convert<_Float16, float>(MTC_F32, {0.1F, 65504, 65520}, MTC_F16);
  EXPECT_EQ(half.valid, 2);
  EXPECT_EQ(static_cast<float>(half.values[0]), static_cast<float>(static_cast<_Float16>(0.1F)));
  const auto brain = convert<uint16_t, float>(MTC_F32, {1, 3.4e38F}, MTC_BF16);
  EXPECT_EQ(brain.values[0], 0x3f80);
  EXPECT_EQ(brain.valid, 1);
  EXPECT_EQ((convert<float, uint16_t>(MTC_BF16, {0x3f80}, MTC_F32).values[0]), 1);
  EXPECT_EQ((convert<double, int64_t>(MTC_I64, {(1LL << 53) - 1}, MTC_F64).values[0]), 0x1p53 - 1);
}

/// Conversions through another type work on blocks: a block's end must not matter.
TEST(ValueConversion, IndicesCountAcrossBlocks) {
  std::vector<double> values(5000, 3);
  values[4321] = 0.5;
  const auto found = convert<int16_t, double>(MTC_F64, values, MTC_I16);
  EXPECT_EQ(found.valid, 4321);
  EXPECT_EQ(found.values[4320], 3);
}

TEST(ValueConversion, TextOfValues) {
  const double number = 2.5;
  EXPECT_EQ(valueText(MTC_F64, reinterpret_cast<const char *>(&number), 0), "2.5");
  const int8_t bytes[] = {1, -3};
  EXPECT_EQ(valueText(MTC_I8, reinterpret_cast<const char *>(bytes), 1), "-3");
  EXPECT_EQ(valuesOfType(MTC_U8), "whole numbers from 0 to 255");
  EXPECT_FALSE(isConvertible(MTC_F8E4M3, MTC_F32));
  EXPECT_TRUE(isConvertible(MTC_F8E4M3, MTC_F8E4M3));
}

} // namespace
