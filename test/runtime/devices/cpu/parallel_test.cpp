// Tests that the thread pool covers each range once, for any number of threads.
#include "runtime/devices/cpu/threads/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
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

TEST(Parallel, SeveralThreadsRunTheParts) {
  std::set<std::thread::id> threads;
  std::mutex lock;
  for (int i = 0; i < 1000 && threads.size() < 2; ++i)
    parallelFor(2, 2, 1, [&](int, int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard guard(lock);
      threads.insert(std::this_thread::get_id());
    });
  EXPECT_EQ(threads.size(), 2U);
}
