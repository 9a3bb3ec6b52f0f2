// The thread that runs the handlers of SIGINT, SIGTERM and SIGHUP.
#ifndef MTC_RUNTIME_LOOP_SIGNAL_THREAD_H
#define MTC_RUNTIME_LOOP_SIGNAL_THREAD_H

#include <csignal>
#include <semaphore>
#include <thread>

namespace mtc::runtime {

/// During the lifetime of an object, SIGINT, SIGTERM and SIGHUP are blocked in the calling thread
/// and in the threads that it starts, and delivered to a dedicated thread. The AVX2 matrix
/// multiplication of oneDNN (2.6) sets the stack pointer into a heap buffer, where the frame of a
/// signal handler would overwrite the memory before the buffer.
class SignalThread {
public:
  /// Throws a Failure if the system cannot start the thread.
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
