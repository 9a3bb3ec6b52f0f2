// Tests properties of mtc's own thread pool. parallel_test.cpp has tests of all pools.
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
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
  struct Region {
    std::vector<std::thread::id> threads = std::vector<std::thread::id>(4);
    std::atomic<int> arrived = 0;
  } first, again;
  for (Region *region : {&first, &again})
    ThreadPool::get().run(
        4, /*isExact=*/true,
        [](void *context, int number, int) {
          auto &r = *static_cast<Region *>(context);
          r.threads[static_cast<size_t>(number)] = std::this_thread::get_id();
          ++r.arrived;
          while (r.arrived < 4) // No thread makes two calls.
            std::this_thread::yield();
        },
        region);
  EXPECT_EQ(first.threads, again.threads);
  EXPECT_EQ(std::set(first.threads.begin(), first.threads.end()).size(), 4U);
}

TEST(ThreadPool, CallsOfThreadsThatAreLateAreMadeByOthers) {
  std::atomic<int64_t> calls = 0;
  for (int i = 0; i < 5000; ++i)
    runParts(
        4, [](void *context, int) { ++*static_cast<std::atomic<int64_t> *>(context); }, &calls);
  EXPECT_EQ(calls, 4 * 5000);
}

TEST(ThreadPool, CallsMayWaitForThreadsThatWereLate) {
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    EXPECT_EQ(sumOf(4, 4), 6);
    std::atomic<int> arrived = 0;
    ThreadPool::get().run(
        4, /*isExact=*/true,
        [](void *context, int, int) {
          auto &count = *static_cast<std::atomic<int> *>(context);
          ++count;
          while (count < 4)
            std::this_thread::yield();
        },
        &arrived);
    ASSERT_EQ(arrived, 4);
  }
}

TEST(ThreadPool, AForkedProcessHasItsOwn) {
  EXPECT_EQ(sumOf(4, 100), 4950);
  const pid_t child = fork();
  if (child == 0)
    _exit(sumOf(4, 100) == 4950 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
