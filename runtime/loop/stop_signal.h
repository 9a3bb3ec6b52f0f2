// SIGINT, SIGTERM and SIGHUP: finish the step, save, exit.
#ifndef MTC_RUNTIME_LOOP_STOP_SIGNAL_H
#define MTC_RUNTIME_LOOP_STOP_SIGNAL_H

#include <string>

namespace mtc::runtime {

/// While an object lives, the first SIGINT, SIGTERM or SIGHUP is only noted; a second one, of
/// whichever of them, ends the process.
class StopSignal {
public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal &) = delete;
  StopSignal &operator=(const StopSignal &) = delete;

  /// Whether a signal came.
  static bool received();
  /// Ends the run with 128 + the signal's number, if one came. `done` says what was done and what
  /// not.
  static void stopIfReceived(const std::string &done);
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_STOP_SIGNAL_H
