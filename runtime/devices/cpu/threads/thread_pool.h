// The threads of a process, which wait for work and compute its parts together.
#ifndef MTC_RUNTIME_DEVICES_CPU_THREADS_THREAD_POOL_H
#define MTC_RUNTIME_DEVICES_CPU_THREADS_THREAD_POOL_H

#include "runtime/devices/cpu/threads/wait_word.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace mtc::runtime {

/// Runs one region at a time. A region is a function that is called once with each of the numbers 0
/// to N - 1. Thread i makes the call with number i, so that a thread finds its data in the caches
/// of its core.
///
/// No thread waits for one that does not get a core because other processes use them: a thread that
/// has ended its own call makes the calls that have not started. The calls of a region may wait for
/// each other, because each thread makes its own call before any other: a call that has not started
/// is therefore never behind one that waits for it.
class ThreadPool {
public:
  using Body = void (*)(void *context, int number, int calls);

  static ThreadPool &get();
  ~ThreadPool();

  /// Runs a region of at most `wanted` calls, or exactly so many if `isExact`. Returns false,
  /// without effect, if a region runs already or if the system has too few threads. `body` must not
  /// throw.
  bool run(int wanted, bool isExact, Body body, void *context);

private:
  struct Region {
    int calls;
    Body body; ///< null: the helpers end
    void *context;
  };
  /// A helper is a thread with a number above 0; the thread that starts the region has number 0.
  struct alignas(64) Helper {
    WaitWord offered;                ///< number of calls that the helper was asked to make
    std::atomic<uint32_t> taken = 0; ///< number of these that a thread has started
    std::thread thread;

    /// Returns whether the calling thread has to make the call that was offered last.
    bool take(uint32_t offer);
  };

  ThreadPool();
  int addHelpers(int wanted);
  static void forgetHelpers();
  void help(Helper &own, int number);
  void makeOtherCalls(int number);

  std::atomic_flag isBusy;
  Region region = {};
  WaitWord running; ///< calls of helpers that have not ended
  std::vector<std::unique_ptr<Helper>> helpers;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_THREADS_THREAD_POOL_H
