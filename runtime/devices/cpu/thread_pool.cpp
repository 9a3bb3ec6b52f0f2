// The thread pool of programs without oneDNN.
#include "runtime/devices/cpu/parallel.h"

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace mtc::runtime {
namespace {

/// Tells the processor that the thread waits.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until an atomic differs from `before`: a few microseconds in a loop, since a step has many
/// short regions, and then in the kernel. Returns the new value.
uint32_t waitForChange(const std::atomic<uint32_t> &value, uint32_t before) {
  constexpr int spins = 500;
  for (int i = 0; i < spins; ++i) {
    if (const uint32_t now = value.load(std::memory_order_acquire); now != before)
      return now;
    relax();
  }
  for (;;) {
    value.wait(before, std::memory_order_acquire);
    if (const uint32_t now = value.load(std::memory_order_acquire); now != before)
      return now;
  }
}

/// A region's parts are divided among the calling thread and helpers, always in the same way, so
/// that a part finds its data in the caches of its core.
class ThreadPool {
public:
  static ThreadPool &get() {
    static ThreadPool pool;
    return pool;
  }

  ~ThreadPool() {
    region.body = nullptr;
    for (auto &helper : helpers)
      start(*helper);
  }

  void run(int parts, void (*body)(void *, int), void *context) {
    if (isBusy.test_and_set(std::memory_order_acquire)) {
      // The caller is a part of a region, or another thread runs one.
      for (int part = 0; part < parts; ++part)
        body(context, part);
      return;
    }
    const int helping = addHelpers(parts - 1);
    region = {parts, helping + 1, body, context};
    running.store(static_cast<uint32_t>(helping), std::memory_order_relaxed);
    for (int i = 0; i < helping; ++i)
      start(*helpers[static_cast<size_t>(i)]);
    runShare(0);
    for (uint32_t left; (left = running.load(std::memory_order_acquire)) != 0;)
      waitForChange(running, left);
    isBusy.clear(std::memory_order_release);
  }

private:
  struct Region {
    int parts, threads;
    void (*body)(void *, int); ///< null: the helpers end
    void *context;
  };
  struct alignas(64) Helper {
    std::atomic<uint32_t> starts = 0; ///< number of regions that the helper was started for
    std::jthread thread;
  };

  /// Starts threads until there are `wanted`, or the system has no more. Returns the number of
  /// helpers, at most `wanted`.
  int addHelpers(int wanted) {
    while (static_cast<int>(helpers.size()) < wanted) {
      auto helper = std::make_unique<Helper>();
      const int share = static_cast<int>(helpers.size()) + 1;
      try {
        helper->thread = std::jthread([this, share, own = helper.get()] { help(*own, share); });
      } catch (const std::system_error &) {
        break;
      }
      helpers.push_back(std::move(helper));
    }
    return std::min(wanted, static_cast<int>(helpers.size()));
  }

  static void start(Helper &helper) {
    helper.starts.fetch_add(1, std::memory_order_release);
    helper.starts.notify_one();
  }

  void help(const Helper &own, int share) {
    for (uint32_t starts = 0;;) {
      starts = waitForChange(own.starts, starts);
      if (!region.body)
        return;
      runShare(share);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
        running.notify_one();
    }
  }

  void runShare(int share) const {
    for (int part = share; part < region.parts; part += region.threads)
      region.body(region.context, part);
  }

  std::atomic_flag isBusy;
  Region region = {};
  std::atomic<uint32_t> running = 0; ///< helpers that have not finished their share
  std::vector<std::unique_ptr<Helper>> helpers;
};

} // namespace

void runParts(int parts, void (*body)(void *context, int part), void *context) {
  if (parts == 1)
    body(context, 0);
  else if (parts > 1)
    ThreadPool::get().run(parts, body, context);
}

int libraryThreads() { return 1; }

void setLibraryThreads(int) {}

} // namespace mtc::runtime
