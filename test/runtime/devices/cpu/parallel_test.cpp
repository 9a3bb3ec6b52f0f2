// The thread pool: ranges are covered once, for any number of threads.
#include "runtime/devices/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

using namespace mtc::runtime;

TEST(Parallel, EachItemOnce) {
  for (int threads : {1, 2, 3, 7})
    for (int64_t extent : {0, 1, 2, 5, 63, 1000, 4096, 100001})
      for (int64_t grain : {0, 1, 16, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(extent));
        std::atomic<int> calls = 0;
        parallelFor(threads, extent, grain, [&](int part, int64_t begin, int64_t end) {
          EXPECT_GE(part, 0);
          EXPECT_LT(part, threads);
          ++calls;
          for (int64_t i = begin; i < end; ++i)
            ++seen[static_cast<size_t>(i)];
        });
        EXPECT_LE(calls, threads);
        if (grain > 1 && extent > 0)
          EXPECT_LE(calls, std::max<int64_t>(1, extent / grain));
        for (auto &count : seen)
          ASSERT_EQ(count, 1);
      }
}

TEST(Parallel, LongRangesAreCutAtCacheLines) {
  for (int part = 0; part <= 7; ++part)
    EXPECT_EQ(partBegin(100000, 7, part) % 64, part == 7 ? 100000 % 64 : 0);
  EXPECT_EQ(partBegin(int64_t{1} << 62, 7, 7), int64_t{1} << 62);
}

TEST(Parallel, ThreadsReallyRunTogether) {
  std::atomic<int> arrived = 0;
  parallelFor(2, 2, 1, [&](int, int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) {
    }
  });
  EXPECT_EQ(arrived, 2);
}
