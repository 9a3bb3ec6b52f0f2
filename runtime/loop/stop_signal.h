// Handling of SIGINT, SIGTERM and SIGHUP: finish the step, save, exit.
#ifndef MTC_RUNTIME_LOOP_STOP_SIGNAL_H
#define MTC_RUNTIME_LOOP_STOP_SIGNAL_H

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

  /// Returns the signal that was received; 0 if there is none.
  static int received();
  /// Records a signal that another rank has received.
  static void record(int signal);
  /// Ends the run with 128 + the signal number if a signal was received. `done` reports the
  /// completed and the omitted work.
  static void stopIfReceived(const std::string &done);
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_STOP_SIGNAL_H
