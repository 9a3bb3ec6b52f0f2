#include "runtime/devices/cpu/threads/wait_word.h"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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

} // namespace

void WaitWord::add(uint32_t change) {
  // Sequential consistency guarantees that this thread sees that another one sleeps, or that the
  // other one sees the new value and does not go to sleep.
  value.fetch_add(change, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

uint32_t WaitWord::waitForChange(uint32_t before) {
  constexpr int spins = 1000;
  for (int i = 0; i < spins; ++i) {
    if (const uint32_t now = load(); now != before)
      return now;
    relax();
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  uint32_t now;
  while ((now = value.load(std::memory_order_seq_cst)) == before)
    syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
  return now;
}

} // namespace mtc::runtime
