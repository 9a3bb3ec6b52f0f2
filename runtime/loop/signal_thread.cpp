// Blocks the signals in all threads except one that waits for them.
#include "runtime/loop/signal_thread.h"

#include "runtime/support/failure.h"

#include <system_error>

namespace mtc::runtime {

SignalThread::SignalThread() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &maskBefore);
  try {
    thread = std::thread([this, signals] {
      pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
      isDone.acquire();
    });
  } catch (const std::system_error &error) {
    pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
    systemError("no thread can be started: ", error.code().message());
  }
}

SignalThread::~SignalThread() {
  isDone.release();
  thread.join();
  pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
}

} // namespace mtc::runtime
