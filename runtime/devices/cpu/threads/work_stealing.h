// Loops over items of similar cost on the threads of the pool. A thread that the system interrupts
// delays the loop by one item.
#ifndef MTC_RUNTIME_DEVICES_CPU_THREADS_WORK_STEALING_H
#define MTC_RUNTIME_DEVICES_CPU_THREADS_WORK_STEALING_H

#include "runtime/devices/cpu/threads/parallel.h"

#include <atomic>
#include <cassert>
#include <vector>

namespace mtc::runtime {

/// A work-stealing loop. Each thread starts with a contiguous range of items, always the same one,
/// so that it finds its data in the caches of its core. It then steals the items that no other
/// thread has begun.
class WorkStealingLoop {
public:
  explicit WorkStealingLoop(int64_t maxItems) : begun(static_cast<size_t>(maxItems)) {}

  /// Calls `body(thread, item, next)` once for each item in [0, items), with thread < threads.
  /// `next` is the item that the thread probably begins next, or -1. With one thread, calls may be
  /// concurrent.
  template <typename Body> void run(int threads, int64_t items, const Body &body) {
    if (threads == 1 || items <= 1) {
      for (int64_t item = 0; item < items; ++item)
        body(0, item, item + 1 < items ? item + 1 : -1);
      return;
    }
    assert(items <= std::ssize(begun) && "too many items");
    for (int64_t item = 0; item < items; ++item)
      flag(item).clear(std::memory_order_relaxed);
    const int parts = static_cast<int>(std::min<int64_t>(threads, items));
    parallelFor(parts, parts, 1, [&](int part, int64_t, int64_t) {
      const int64_t first = partBegin(items, parts, part);
      for (int64_t i = 0; i < items; ++i) {
        const int64_t item = (first + i) % items, next = (item + 1) % items;
        if (!flag(item).test_and_set(std::memory_order_relaxed))
          body(part, item, flag(next).test(std::memory_order_relaxed) ? -1 : next);
      }
    });
  }

private:
  std::atomic_flag &flag(int64_t item) { return begun[static_cast<size_t>(item)]; }

  std::vector<std::atomic_flag> begun;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_THREADS_WORK_STEALING_H
