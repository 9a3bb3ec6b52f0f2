#include "runtime/devices/cpu/threads/thread_pool.h"

#include <algorithm>
#include <pthread.h>
#include <system_error>

namespace mtc::runtime {

bool ThreadPool::Helper::take(uint32_t offer) {
  uint32_t before = offer - 1;
  return taken.compare_exchange_strong(before, offer, std::memory_order_acq_rel);
}

ThreadPool::ThreadPool() { pthread_atfork(nullptr, nullptr, forgetHelpers); }

ThreadPool &ThreadPool::get() {
  static ThreadPool pool;
  return pool;
}

/// A forked process has the forking thread only. The child process starts helpers of its own.
void ThreadPool::forgetHelpers() {
  ThreadPool &pool = get();
  for (auto &helper : pool.helpers)
    (void)helper.release(); // Its thread can neither be joined nor detached.
  pool.helpers.clear();
  pool.isBusy.clear();
}

ThreadPool::~ThreadPool() {
  if (isBusy.test_and_set(std::memory_order_acquire)) {
    // The process ends while another thread runs a region: its helpers end with the process.
    for (auto &helper : helpers)
      (void)helper.release();
    return;
  }
  region.body = nullptr;
  for (auto &helper : helpers)
    helper->offered.add(1);
  for (auto &helper : helpers)
    helper->thread.join();
}

bool ThreadPool::run(int wanted, bool isExact, Body body, void *context) {
  if (isBusy.test_and_set(std::memory_order_acquire))
    return false; // The caller is a part of a region, or another thread runs one.
  const int helping = addHelpers(wanted - 1);
  const bool isPossible = !isExact || helping == wanted - 1;
  if (isPossible) {
    region = {helping + 1, body, context};
    running.reset(static_cast<uint32_t>(helping));
    for (int i = 0; i < helping; ++i)
      helpers[static_cast<size_t>(i)]->offered.add(1);
    body(context, 0, helping + 1);
    makeOtherCalls(0);
    for (uint32_t left; (left = running.load()) != 0;)
      running.waitForChange(left);
  }
  isBusy.clear(std::memory_order_release);
  return isPossible;
}

/// Starts threads until there are `wanted`, or the system has no more. Returns the number of
/// helpers, at most `wanted`.
int ThreadPool::addHelpers(int wanted) {
  while (static_cast<int>(helpers.size()) < wanted) {
    auto helper = std::make_unique<Helper>();
    const int number = static_cast<int>(helpers.size()) + 1;
    try {
      helper->thread = std::thread([this, number, own = helper.get()] { help(*own, number); });
    } catch (const std::system_error &) {
      break;
    }
    helpers.push_back(std::move(helper));
  }
  return std::min(wanted, static_cast<int>(helpers.size()));
}

/// Makes the calls of a region that no thread has started, beginning with the call after `number`.
void ThreadPool::makeOtherCalls(int number) {
  for (int i = 1; i < region.calls; ++i) {
    const int other = (number + i) % region.calls;
    if (other == 0)
      continue; // The caller's.
    Helper &helper = *helpers[static_cast<size_t>(other - 1)];
    if (!helper.take(helper.offered.load()))
      continue;
    region.body(region.context, other, region.calls);
    running.add(-1U);
  }
}

void ThreadPool::help(Helper &own, int number) {
  for (uint32_t offer = 0;;) {
    offer = own.offered.waitForChange(offer);
    if (!own.take(offer))
      continue;
    // The region runs until this thread says that its call has ended.
    if (!region.body)
      return;
    region.body(region.context, number, region.calls);
    makeOtherCalls(number);
    running.add(-1U);
  }
}

} // namespace mtc::runtime
