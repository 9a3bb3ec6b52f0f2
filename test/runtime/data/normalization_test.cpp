// Normalization: lists of flags, axes of channels, and the formula in f32.
#include "runtime/data/normalization.h"

#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::HasSubstr;

namespace {

Normalization imageNet() {
  return {parseScale("1/255"), parseMean("0.485,0.456,0.406"), parseStd("0.229,0.224,0.225")};
}

/// The expected value of channel `c`.
float normalized(float x, size_t c) {
  constexpr float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
  return (x / 255 - mean[c]) / std[c];
}

TEST(Normalization, ChannelsAreTheFirstAxis) {
  const ChannelNormalizer normalizer(imageNet(), {3, 2, 2}, "x");
  std::vector<float> values(24);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(10 * i);
  // Two calls, whose border is within a channel of the second sample.
  normalizer.apply(values.data(), 17, 0);
  normalizer.apply(values.data() + 17, 7, 17);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], normalized(static_cast<float>(10 * i), i / 4 % 3)) << i;
}

TEST(Normalization, ChannelsAreTheLastAxisIfOnlyItsSizeFits) {
  const ChannelNormalizer normalizer(imageNet(), {2, 2, 3}, "x");
  std::vector<float> values(12, 100);
  normalizer.apply(values.data(), 12, 0);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], normalized(100, i % 3)) << i;
}

TEST(Normalization, ChannelsOfSingleElementsInManyPeriods) {
  const ChannelNormalizer normalizer(imageNet(), {20, 10, 3}, "x");
  std::vector<float> values(1200, 100);
  normalizer.apply(values.data(), 500, 0);
  normalizer.apply(values.data() + 500, 700, 500);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], normalized(100, i % 3)) << i;
}

TEST(Normalization, OneValueIsForAllElements) {
  const ChannelNormalizer scalar({parseScale("2"), {}, {}}, {}, "x");
  float value = 3;
  scalar.apply(&value, 1, 0);
  EXPECT_EQ(value, 6);
  const ChannelNormalizer vector({{}, parseMean("1"), parseStd("2")}, {3}, "x");
  std::vector<float> values = {1, 3, 5};
  vector.apply(values.data(), 3, 0);
  EXPECT_EQ(values, (std::vector<float>{0, 1, 2}));
}

TEST(Normalization, InvalidLists) {
  EXPECT_THAT(problemOf([] { parseScale("1/0"); }), HasSubstr("divides by 0"));
  EXPECT_THAT(problemOf([] { parseMean("0.1,,2"); }), HasSubstr("expected a finite number"));
  EXPECT_THAT(problemOf([] { parseMean("1e39"); }), HasSubstr("at most 3.4e+38"));
  EXPECT_THAT(problemOf([] { parseStd("1,0"); }), HasSubstr("above 0"));
  EXPECT_THAT(
      problemOf([] { ChannelNormalizer(imageNet(), {1, 28, 28}, "x"); }),
      HasSubstr("--mean x: has 3 values, and a sample of 'x' has shape [1, 28, 28]; expected "
                "one value, or 1: one for each index"));
  EXPECT_THAT(problemOf([] { ChannelNormalizer({{}, {1, 2}, {1, 2, 3}}, {3, 4}, "x"); }),
              HasSubstr("--mean x: has 2 values"));
}

TEST(Normalization, FlagsAreReadBack) {
  const Normalizations all = {{"x", imageNet()}, {"y", {{}, {}, {2}}}};
  EXPECT_EQ(flagsOf(all), "--scale x=1/255 --mean x=0.485,0.456,0.406 --std x=0.229,0.224,0.225 "
                          "--std y=2");
  EXPECT_EQ(parseScale(scaleText(imageNet().scale)), imageNet().scale);
  EXPECT_EQ(parseMean(numbersText(imageNet().mean)), imageNet().mean);
}

} // namespace
