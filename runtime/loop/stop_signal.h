// Handling of SIGINT, SIGTERM and SIGHUP: finish the step, save, exit.
#ifndef MTC_RUNTIME_LOOP_STOP_SIGNAL_H
#define MTC_RUNTIME_LOOP_STOP_SIGNAL_H

#include "runtime/collectives/ranks.h"

#include <string>

namespace mtc::runtime {

/// During the lifetime of an object, the first SIGINT, SIGTERM or SIGHUP is only recorded; a second
/// one, of any of these, ends the process.
class StopSignal {
public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal &) = delete;
  StopSignal &operator=(const StopSignal &) = delete;

  /// Returns the signal that this process received; 0 if there is none. Other ranks may not have
  /// received one.
  static int received();
  /// Returns whether the run ends, because of a signal or because `isEnd` is true, on any rank. All
  /// ranks must call it; `what` describes the agreement in messages.
  static bool agree(Ranks &ranks, const char *what, bool isEnd = false);
  /// Returns the signal that the last agreement found; 0 if there was none. All ranks have the same
  /// one.
  static int agreed();
  /// Ends the run with 128 + the signal number if the ranks agreed on a signal. `done` reports the
  /// completed and the omitted work.
  static void stopIfAgreed(const std::string &done);
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_STOP_SIGNAL_H
