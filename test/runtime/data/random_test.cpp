// Tests random numbers and the order of samples: known answers, independence of earlier draws, and
// permutations.
#include "runtime/data/row_order.h"
#include "runtime/support/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

using namespace mtc::runtime;

namespace {

TEST(Philox, KnownAnswers) {
  // The numbers are test vectors of the reference implementation (Random123, kat_vectors).
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, NormalsHaveMeanZeroAndVarianceOne) {
  double sum = 0, squares = 0, fourths = 0;
  constexpr int groups = 50000;
  for (uint64_t group = 0; group < groups; ++group)
    for (double sample : normals(0, hashName("layer.weight"), group)) {
      ASSERT_TRUE(std::isfinite(sample));
      sum += sample;
      squares += sample * sample;
      fourths += sample * sample * sample * sample;
    }
  constexpr double count = 4.0 * groups;
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
  EXPECT_NEAR(fourths / count, 3, 5 * std::sqrt(96 / count));
  EXPECT_NE(normals(0, hashName("a"), 0), normals(0, hashName("b"), 0));
  EXPECT_NE(normals(0, hashName("a"), 0), normals(1, hashName("a"), 0));
}

TEST(RowOrder, InOrderWithoutShuffle) {
  RowOrder order(5, false, 3);
  for (int64_t position = 0; position < 12; ++position)
    EXPECT_EQ(order.row(position), position % 5);
}

TEST(RowOrder, EveryEpochTakesEachRowOnce) {
  for (int64_t rows : {1, 2, 3, 4, 5, 17, 64, 65, 1000, 4097})
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      RowOrder order(rows, true, 42);
      std::set<int64_t> seen;
      for (int64_t i = 0; i < rows; ++i)
        seen.insert(order.row(epoch * rows + i));
      ASSERT_EQ(seen.size(), static_cast<size_t>(rows));
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), rows - 1);
    }
}

TEST(RowOrder, ShuffledDifferentlyBySeedAndEpoch) {
  auto list = [](uint64_t seed, int64_t epoch) {
    RowOrder order(1000, true, seed);
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 1000; ++i)
      rows.push_back(order.row(epoch * 1000 + i));
    return rows;
  };
  auto base = list(1, 0);
  EXPECT_EQ(base, list(1, 0));
  EXPECT_NE(base, list(2, 0));
  EXPECT_NE(base, list(1, 1));
  EXPECT_NE(base, list((uint64_t{1} << 40) + 1, 0));
  // Neighbors are far apart after shuffling: a third of 1000 on average.
  double distance = 0;
  for (size_t i = 1; i < base.size(); ++i)
    distance += std::abs(static_cast<double>(base[i] - base[i - 1]));
  EXPECT_NEAR(distance / 999, 333, 40);
}

TEST(RowOrder, LargeFiles) {
  RowOrder order(int64_t{3} << 40, true, 0);
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_GE(order.row(i), 0);
    EXPECT_LT(order.row(i), int64_t{3} << 40);
  }
}

} // namespace
