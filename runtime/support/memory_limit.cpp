#include "runtime/support/memory_limit.h"

#include "runtime/abi/memory_limit.h"
#include "runtime/support/failure.h"

#include <csignal>
#include <cstdlib>
#include <pthread.h>

namespace mtc::runtime {
namespace {

/// Runs on a stack of its own, and then lets the signal have its default effect.
void explainCrash(int) {
  if (mtc_can_reserve(MTC_MEMORY_RESERVE))
    return; // SA_RESETHAND: the fault occurs again, or abort() raises the signal again.
  mtc_report_out_of_memory("");
  std::_Exit(exitSystemFault);
}

size_t stackBytes() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0)
    return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

} // namespace

void guardMemoryLimit() {
  static char stack[1 << 14];
  if (!mtc_address_space_limit())
    return;
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  struct sigaction action = {};
  action.sa_handler = explainCrash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER) |
                    (sigaltstack(&alternative, nullptr) == 0 ? SA_ONSTACK : 0);
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT})
    sigaction(signal, &action, nullptr);
}

void checkStacks(int threads) {
  const size_t limit = mtc_address_space_limit(), each = stackBytes(),
               needed = static_cast<size_t>(threads - 1) * each;
  if (!limit || threads < 2 || mtc_can_reserve(needed + MTC_MEMORY_RESERVE / 2))
    return;
  systemError("out of memory: the stacks of ", threads, " threads have ", each >> 20,
              " MiB each, and `ulimit -v` limits the address space to ", limit,
              " MiB; raise the limit, or give --threads 1");
}

} // namespace mtc::runtime
