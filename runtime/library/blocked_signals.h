// Signals during calls of the library.
#ifndef MTC_RUNTIME_LIBRARY_BLOCKED_SIGNALS_H
#define MTC_RUNTIME_LIBRARY_BLOCKED_SIGNALS_H

#include <csignal>
#include <initializer_list>
#include <pthread.h>

namespace mtc::runtime {

/// During the lifetime of an object, asynchronous signals are blocked in the calling thread, and in
/// the threads that it starts. See SignalThread for the reason. They are delivered to other threads
/// of the process, or when the object is destroyed.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t signals;
    sigfillset(&signals);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LIBRARY_BLOCKED_SIGNALS_H
