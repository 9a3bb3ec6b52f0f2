// The one thread on which handlers of SIGINT, SIGTERM and SIGHUP run.
#ifndef MTC_RUNTIME_LOOP_SIGNAL_THREAD_H
#define MTC_RUNTIME_LOOP_SIGNAL_THREAD_H

#include <csignal>
#include <semaphore>
#include <thread>

namespace mtc::runtime {

/// While an object lives, the calling thread and those that it starts leave SIGINT, SIGTERM and
/// SIGHUP to a thread that does nothing else. oneDNN's products for AVX2 (2.6) set the stack
/// pointer to a buffer on the heap, where a handler's frame would overwrite what lies before it.
class SignalThread {
public:
  /// Throws a Failure if the system starts no thread.
  SignalThread();
  ~SignalThread();
  SignalThread(const SignalThread &) = delete;
  SignalThread &operator=(const SignalThread &) = delete;

private:
  sigset_t maskBefore;
  std::binary_semaphore isDone{0};
  std::thread thread;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SIGNAL_THREAD_H
