// The handler notes the signal and restores the default.
#include "runtime/stop_signal.h"

#include <csignal>
#include <initializer_list>

namespace mtc::runtime {

static volatile std::sig_atomic_t noted = 0;

static void note(int signal) { noted = signal; }

StopSignal::StopSignal() {
  noted = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  // One shot: the next signal ends the process. System calls go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    // What the parent process chose to ignore stays ignored (`nohup`, shell jobs).
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == note)
      std::signal(signal, SIG_DFL);
  }
}

const char *StopSignal::received() {
  return noted == SIGINT    ? "SIGINT"
         : noted == SIGTERM ? "SIGTERM"
         : noted == SIGHUP  ? "SIGHUP"
                            : nullptr;
}

} // namespace mtc::runtime
