// Weighted sampling: frequencies, rows that are never drawn, independence of history, and errors.
#include "runtime/data/weighted_sampler.h"

#include "runtime/data/consecutive_batches.h"
#include "runtime/data/data_column.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::HasSubstr;

namespace {

WeightedSampler samplerOf(const std::vector<double> &weights) {
  return {static_cast<int64_t>(weights.size()), "--sample-weights",
          [weights](int64_t first, int64_t count, double *to) {
            std::copy_n(weights.begin() + first, count, to);
          }};
}

std::vector<int64_t> countDraws(const WeightedSampler &sampler, int64_t rows, int64_t draws) {
  std::vector<int64_t> counts(static_cast<size_t>(rows));
  for (int64_t i = 0; i < draws; ++i)
    ++counts[static_cast<size_t>(sampler.draw(7, static_cast<uint64_t>(i / rows), i % rows))];
  return counts;
}

TEST(WeightedSampler, FrequenciesAreThoseOfTheWeights) {
  // Three blocks, of which the second has only zeros, and zeros at both ends.
  std::vector<double> weights(1300, 0);
  for (size_t i = 3; i < 500; ++i)
    weights[i] = 1 + static_cast<double>(i % 3);
  weights[1100] = 500;
  const double total = 500 + 497 * 2 - 1; // ids 3 to 499: 1, 2, 3 in turn
  constexpr int64_t draws = 200000;
  const std::vector<int64_t> counts = countDraws(samplerOf(weights), 1300, draws);
  double chiSquare = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected = draws * weights[i] / total;
    if (expected == 0)
      ASSERT_EQ(counts[i], 0) << i;
    else
      chiSquare += std::pow(static_cast<double>(counts[i]) - expected, 2) / expected;
  }
  // 498 degrees of freedom: mean 497, standard deviation 31.5.
  EXPECT_NEAR(chiSquare, 497, 5 * 31.5);
}

TEST(WeightedSampler, DrawsDependOnSeedEpochAndIndexAlone) {
  const WeightedSampler sampler = samplerOf(std::vector<double>(1000, 1)),
                        again = samplerOf(std::vector<double>(1000, 1));
  int equal = 0;
  for (int64_t i = 999; i >= 0; --i) {
    EXPECT_EQ(sampler.draw(1, 2, i), again.draw(1, 2, i));
    equal += sampler.draw(1, 2, i) == sampler.draw(1, 3, i);
    equal += sampler.draw(1, 2, i) == sampler.draw(2, 2, i);
  }
  EXPECT_LT(equal, 20);
  EXPECT_EQ(sampler.description(), again.description());
  EXPECT_NE(sampler.description(), samplerOf(std::vector<double>(1000, 2)).description());
  const ConsecutiveBatches order(1000, 1000, LastBatch::Wrap, true, 1, {}, &sampler);
  EXPECT_EQ(order.batchOf(3).rows[10], sampler.draw(1, 2, 10));
}

TEST(WeightedSampler, InvalidWeights) {
  EXPECT_THAT(problemOf([] { samplerOf({1, -1}); }),
              HasSubstr("--sample-weights: row 1 has the weight -1; expected finite weights"));
  EXPECT_THAT(problemOf([] { samplerOf({NAN}); }), HasSubstr("row 0 has the weight nan"));
  EXPECT_THAT(problemOf([] { samplerOf({0, 0}); }), HasSubstr("the sum 0; expected"));
  EXPECT_THAT(problemOf([] { samplerOf({1e308, 1e308}); }), HasSubstr("the sum inf"));
}

TEST(WeightedSampler, Files) {
  const TemporaryFolder folder;
  writeFile(folder / "w.npy", npyBytes("<f4", "(3,)", bytesOf<float>({0, 5, 0})));
  const WeightedSampler sampler = samplerOfFile(folder / "w.npy", 3);
  for (int64_t i = 0; i < 20; ++i)
    EXPECT_EQ(sampler.draw(0, 0, i), 1);
  EXPECT_THAT(problemOf([&] { samplerOfFile(folder / "w.npy", 4); }),
              HasSubstr("w.npy: has 3 weights, but the data has 4 samples"));
  writeFile(folder / "w.npy", npyBytes("<f4", "(3, 2)", bytesOf<float>({0, 5, 0, 1, 1, 1})));
  EXPECT_THAT(problemOf([&] { samplerOfFile(folder / "w.npy", 3); }),
              HasSubstr("has shape [3, 2]"));
  writeFile(folder / "w.bin", "abcd");
  EXPECT_THAT(problemOf([&] { samplerOfFile(folder / "w.bin", 2); }), HasSubstr("is a token file"));
}

TEST(WeightedSampler, Classes) {
  const TemporaryFolder folder;
  int64_t dims[1] = {1};
  MtcInput labels = {
      {"labels", MTC_I64, 1, dims, 0, 8, MTC_DEVICE}, 1, 0, 0, 0, -1, 0, 4, -100, "the loss"};
  std::vector<int8_t> values(1000, 0); // class 2 has no rows
  for (size_t i = 0; i < 10; ++i)
    values[i * 7 + 5] = i < 2 ? 3 : i < 5 ? -100 : 1;
  writeFile(folder / "l.npy", npyBytes("|i1", "(1000,)", bytesOf(values)));
  const DataColumn column(labels, "--data labels",
                          openDataFile(labels, folder / "l.npy", "--data"));
  const WeightedSampler sampler = samplerOfClasses(labels, column);
  constexpr int64_t draws = 30000;
  const std::vector<int64_t> counts = countDraws(sampler, 1000, draws);
  std::map<int, int64_t> ofClass;
  for (size_t i = 0; i < counts.size(); ++i)
    ofClass[values[i]] += counts[i];
  EXPECT_EQ(ofClass[-100], 0);
  for (int each : {0, 1, 3})
    EXPECT_NEAR(static_cast<double>(ofClass[each]), draws / 3.0, 5 * std::sqrt(draws * 2 / 9.0));
}

} // namespace
