// Properties of mtc's own thread pool; parallel_test.cpp has the tests of all pools.
#include "runtime/devices/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

using namespace mtc::runtime;

namespace {

int64_t sumOf(int threads, int64_t extent) {
  std::atomic<int64_t> sum = 0;
  parallelFor(threads, extent, 1, [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      sum += i;
  });
  return sum;
}

TEST(ThreadPool, RegionsFollowEachOther) {
  for (int i = 0; i < 20000; ++i)
    ASSERT_EQ(sumOf(1 + i % 5, 64), 64 * 63 / 2) << "region " << i;
}

TEST(ThreadPool, IdleHelpersWakeUp) {
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_EQ(sumOf(4, 100), 4950);
  }
}

TEST(ThreadPool, ARegionWithinARegionRunsOnItsThread) {
  std::atomic<int64_t> sum = 0;
  parallelFor(3, 3, 1, [&](int, int64_t, int64_t) {
    const std::thread::id own = std::this_thread::get_id();
    parallelFor(4, 100, 1, [&](int, int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), own);
      sum += end - begin;
    });
  });
  EXPECT_EQ(sum, 300);
}

TEST(ThreadPool, SeveralThreadsMayStartRegions) {
  std::vector<int64_t> sums(4);
  {
    std::vector<std::jthread> callers;
    for (int64_t &sum : sums)
      callers.emplace_back([&sum] {
        for (int i = 0; i < 2000; ++i)
          sum += sumOf(3, 10);
      });
  }
  for (int64_t sum : sums)
    EXPECT_EQ(sum, 2000 * 45);
}

TEST(ThreadPool, APartKeepsItsThread) {
  std::vector<std::thread::id> first(4), again(4);
  for (auto *threads : {&first, &again})
    runParts(
        4,
        [](void *context, int part) {
          (*static_cast<std::vector<std::thread::id> *>(context))[static_cast<size_t>(part)] =
              std::this_thread::get_id();
        },
        threads);
  EXPECT_EQ(first, again);
}

} // namespace
