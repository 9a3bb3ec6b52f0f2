// A training run of a library: reports, the best validation and checkpoints.
#ifndef MTC_RUNTIME_LIBRARY_RUN_H
#define MTC_RUNTIME_LIBRARY_RUN_H

#include "runtime/devices/device.h"
#include "runtime/reports/report_files.h"
#include "runtime/reports/run_listener.h"
#include "runtime/state/best_validation.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/training_state.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mtc::runtime {

struct RunOptions {
  int64_t lastStep = 0;        ///< 0: unknown
  int64_t samplesPerEpoch = 0; ///< 0: unknown
  std::string save;            ///< folder of checkpoints; "": none
  bool keepsBest = false;      ///< the best checkpoint is saved in `save`/best
  /// Metric of the best validation. Its direction is used if it is none of the program's.
  BestMetric best;
  int64_t earlyStop = 0; ///< validations without an improvement before the run ends; 0: it does not
  ReportFiles reports;
  /// Receives lines, and the bar in place of the previous one; null: no progress is shown.
  std::function<void(const std::string &text, bool isBar)> showProgress;
  int columns = 0; ///< of the bar; 0: each step gets a line
};

/// Throws a user error if the folder has a checkpoint, which is not of this training.
void checkReplaces(const CheckpointFolder &folder);

/// What the training loop of a program does around its steps. The caller trains and evaluates.
class Run {
public:
  /// Locks the folder of checkpoints for the lifetime of the object. `isOwn` returns whether a
  /// folder's checkpoint is of this training, so that it may be replaced.
  Run(const MtcProgram &program, TrainingState &state, RunOptions options,
      const std::function<bool(const std::string &folder)> &isOwn);

  /// Reports a step. Throws if its loss is not finite, or if a report cannot be written.
  void step(StepMetrics metrics);
  /// Reports a validation and records the best one. Returns whether it is the best so far.
  bool validation(ValidationMetrics metrics);
  /// Saves the best checkpoint if it is kept, as the latest one, too.
  void saveBest(Device &device, const FiniteVariables &finite);
  /// Returns the path of the folder of checkpoints, or "".
  const std::string &folder() const { return options.save; }
  /// Returns the folder of checkpoints if it is `path`, otherwise null.
  CheckpointFolder *folderAt(const std::string &path);
  /// Restarts the time of the next step, which does not include saves and evaluations.
  void restartClock() { mark = Clock::now(); }
  /// Returns whether the run ends for want of an improvement.
  bool stopsEarly() const { return best.stopsEarly(); }
  void end(RunOutcome outcome, const std::string &message);

  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

private:
  using Clock = std::chrono::steady_clock;

  void checkFinite(const StepMetrics &metrics) const;

  const MtcProgram &program;
  TrainingState &state;
  RunOptions options;
  BestValidation best;
  RunListeners listeners;
  std::optional<CheckpointFolder> checkpoints, bestCheckpoint;
  Clock::time_point mark;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LIBRARY_RUN_H
