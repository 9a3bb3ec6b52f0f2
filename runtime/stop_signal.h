// SIGINT, SIGTERM and SIGHUP: finish the step, save, exit.
#ifndef MTC_RUNTIME_STOP_SIGNAL_H
#define MTC_RUNTIME_STOP_SIGNAL_H

namespace mtc::runtime {

/// While an object lives, the first SIGINT, SIGTERM or SIGHUP is only noted; a second one ends the
/// process.
class StopSignal {
public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal &) = delete;
  StopSignal &operator=(const StopSignal &) = delete;

  /// The name of the signal, or null if none came.
  static const char *received();
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STOP_SIGNAL_H
