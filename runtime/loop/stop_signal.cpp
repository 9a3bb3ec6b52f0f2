// The handler records the signal and restores the default handlers of all three signals.
#include "runtime/loop/stop_signal.h"

#include "runtime/support/failure.h"

#include <csignal>

namespace mtc::runtime {

static volatile std::sig_atomic_t noted = 0;
/// The signal of the last agreement. Only the thread that runs the program accesses it.
static thread_local int common = 0;
static constexpr int stopSignals[] = {SIGINT, SIGTERM, SIGHUP};

static void noteSignal(int signal);

/// Signals that the parent process ignores (`nohup`, shell jobs) remain ignored.
static void restoreDefaults() {
  for (int signal : stopSignals) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != noteSignal)
      continue;
    now.sa_handler = SIG_DFL;
    sigaction(signal, &now, nullptr);
  }
}

static void noteSignal(int signal) {
  noted = signal;
  restoreDefaults();
}

StopSignal::StopSignal() {
  noted = common = 0;
  struct sigaction action = {};
  action.sa_handler = noteSignal;
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

bool StopSignal::agree(Ranks &ranks, const char *what, bool isEnd) {
  // Any signal exceeds the other reasons.
  constexpr int64_t end = 1, endBySignal = 256;
  const int own = received();
  const int64_t all = ranks.maximum(own ? endBySignal + own : isEnd ? end : 0, what);
  common = all > endBySignal ? static_cast<int>(all - endBySignal) : 0;
  return all != 0;
}

int StopSignal::agreed() { return common; }

void StopSignal::stopIfAgreed(const std::string &done) {
  const int signal = common;
  if (!signal)
    return;
  const char *name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  throw Failure(exitSignal + signal, text(name, ": ", done));
}

} // namespace mtc::runtime
