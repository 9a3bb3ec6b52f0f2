// Tests work-stealing loops: each item is computed once, and other threads compute the items of a
// delayed thread.
#include "runtime/devices/cpu/threads/work_stealing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace mtc::runtime;

TEST(WorkStealing, EachItemOnce) {
  WorkStealingLoop loop(1000);
  for (int repetition = 0; repetition < 3; ++repetition)
    for (int threads : {1, 2, 3, 7})
      for (int64_t items : {0, 1, 2, 5, 63, 1000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(items));
        loop.run(threads, items, [&](int thread, int64_t item, int64_t next) {
          EXPECT_GE(thread, 0);
          EXPECT_LT(thread, threads);
          EXPECT_LT(next, items);
          EXPECT_NE(next, item);
          ++seen[static_cast<size_t>(item)];
        });
        for (auto &count : seen)
          ASSERT_EQ(count, 1);
      }
}

TEST(WorkStealing, NextItemOfOneThread) {
  WorkStealingLoop loop(0);
  std::vector<int64_t> found;
  loop.run(1, 3, [&](int, int64_t, int64_t next) { found.push_back(next); });
  EXPECT_EQ(found, (std::vector<int64_t>{1, 2, -1}));
}

/// The first item ends after all others, most of which its own thread would have computed.
TEST(WorkStealing, ItemsOfADelayedThread) {
  constexpr int64_t items = 16;
  WorkStealingLoop loop(items);
  std::atomic<int64_t> computed = 0;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  loop.run(2, items, [&](int, int64_t item, int64_t) {
    while (item == 0 && computed < items - 1 && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    ++computed;
    if (item == 0)
      EXPECT_EQ(computed, items);
  });
}
