// The handler records the signal and restores the default handlers of all three signals.
#include "runtime/loop/stop_signal.h"

#include "runtime/support/failure.h"

#include <csignal>

namespace mtc::runtime {

static volatile std::sig_atomic_t noted = 0;
static constexpr int stopSignals[] = {SIGINT, SIGTERM, SIGHUP};

static void note(int signal);

/// Signals that the parent process ignores (`nohup`, shell jobs) remain ignored.
static void restoreDefaults() {
  for (int signal : stopSignals) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != note)
      continue;
    now.sa_handler = SIG_DFL;
    sigaction(signal, &now, nullptr);
  }
}

static void note(int signal) {
  noted = signal;
  restoreDefaults();
}

StopSignal::StopSignal() {
  noted = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;  // System calls are restarted.
  for (int signal : stopSignals) // Block the other signals in the handler, so that simultaneous
                                 // signals are recorded in sequence.
    sigaddset(&action.sa_mask, signal);
  for (int signal : stopSignals) {
    struct sigaction before;
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
}

StopSignal::~StopSignal() { restoreDefaults(); }

int StopSignal::received() { return noted; }

void StopSignal::record(int signal) {
  if (!noted)
    noted = signal;
}

void StopSignal::stopIfReceived(const std::string &done) {
  const int signal = noted;
  if (!signal)
    return;
  const char *name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  throw Failure(exitSignal + signal, text(name, ": ", done));
}

} // namespace mtc::runtime
