// State and helpers that all kinds of runs share: training, evaluation, outputs and gradients.
#ifndef MTC_RUNTIME_LOOP_SESSION_H
#define MTC_RUNTIME_LOOP_SESSION_H

#include "runtime/devices/device.h"
#include "runtime/devices/observer.h"
#include "runtime/loop/batch_reader.h"
#include "runtime/loop/options.h"
#include "runtime/reports/run_listener.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/divergence.h"
#include "runtime/state/training_state.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// Removes the sign of a NaN, which carries no information, for messages.
inline double withoutSignOfNan(double value) {
  return std::isnan(value) ? std::fabs(value) : value;
}

/// Returns the order of samples in batches.
BatchOrder orderOf(const Dataset &data, const TrainingState &state);

/// The loss of a step; its gradients remain to be multiplied by `gradientFactor`.
struct StepLoss {
  double value, gradientFactor;
};

struct Session {
  const MtcProgram &program;
  std::string programName; ///< of the executable
  const Options &options;
  Device &device;
  Dataset &data;
  BatchReader &batches;
  const std::vector<Observer *> &observers;
  RunListeners &listeners;       ///< of training
  CheckpointFolder *checkpoints; ///< destination of training checkpoints; null if none are saved
  const FiniteVariables &finite;

  /// Returns the number of micro-steps per step.
  int64_t microSteps() const { return program.accumulation.micro_steps; }
  /// Writes the scalars that micro-step `microStep` (from 0) of step `step` (from 1) reads.
  void setScalars(int64_t step, int64_t microStep, double learningRate, uint64_t seed) const;
  /// Loads the samples of a micro-step in the state's order, and prefetches those of the next
  /// micro-step unless it is beyond step `last`.
  void loadBatch(const TrainingState &state, int64_t step, int64_t microStep, int64_t last) const;
  /// Runs a phase of step `step` and notifies the observers.
  template <typename Action> void run(Phase phase, int64_t step, const Action &action) const {
    auto begin = Observer::Clock::now();
    action();
    auto end = Observer::Clock::now();
    for (Observer *observer : observers)
      observer->phase(phase, step, begin, end);
  }
  /// Requests the loss at an offset, as of the work queued so far, and returns a request number for
  /// `loss`, which waits for the value.
  int64_t requestLoss(int64_t offset) const;
  double loss(int64_t request) const;

  /// Requests the loss of a step after all of its micro-steps and before its update. For a single
  /// micro-step, the loss is at `offset`.
  struct StepRequest {
    int64_t loss, count;
  };
  StepRequest requestStepLoss(int64_t offset) const;
  StepLoss stepLoss(const StepRequest &request) const;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SESSION_H
