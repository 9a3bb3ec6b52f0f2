// A number whose changes threads wait for.
#ifndef MTC_RUNTIME_DEVICES_CPU_THREADS_WAIT_WORD_H
#define MTC_RUNTIME_DEVICES_CPU_THREADS_WAIT_WORD_H

#include <atomic>
#include <cstdint>

namespace mtc::runtime {

/// Waiting threads spin for some ten microseconds, since a step has many short regions, and then
/// sleep, so that other processes have the core. They do not yield, as `std::atomic::wait` does: a
/// thread that yields to busy processes gets the core back only after the time slice of each.
class WaitWord {
public:
  uint32_t load() const { return value.load(std::memory_order_acquire); }
  /// Sets the number while nobody waits.
  void reset(uint32_t to) { value.store(to, std::memory_order_relaxed); }
  /// Adds to the number, and wakes all that wait.
  void add(uint32_t change);
  /// Waits until the number differs from `before`. Returns the new number.
  uint32_t waitForChange(uint32_t before);

private:
  std::atomic<uint32_t> value = 0, sleepers = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_THREADS_WAIT_WORD_H
