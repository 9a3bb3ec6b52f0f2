// What every kind of run works on.
#ifndef MTC_RUNTIME_LOOP_SESSION_H
#define MTC_RUNTIME_LOOP_SESSION_H

#include "runtime/devices/device.h"
#include "runtime/devices/observer.h"
#include "runtime/loop/batch_reader.h"
#include "runtime/loop/options.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/divergence.h"
#include "runtime/state/training_state.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// For messages: the sign of a NaN says nothing.
inline double withoutSignOfNan(double value) {
  return std::isnan(value) ? std::fabs(value) : value;
}

/// The rows of each step.
BatchOrder orderOf(const Dataset &data, const TrainingState &state);

/// Of a step that updates; what its gradients are still to be multiplied by.
struct StepLoss {
  double value, gradientFactor;
};

struct Session {
  const MtcProgram &program;
  const Options &options;
  Device &device;
  const Dataset &data;
  BatchReader &batches;
  const std::vector<Observer *> &observers;
  CheckpointFolder *checkpoints; ///< that training saves to; null: nowhere
  const FiniteVariables &finite;

  /// How many a step that updates has.
  int64_t microSteps() const { return program.accumulation.micro_steps; }
  /// Writes the scalars that a micro-step (from 0) of step `step` (from 1) reads.
  void setScalars(int64_t step, int64_t microStep, double learningRate, uint64_t seed) const;
  /// Loads the rows of a micro-step by the state's order, and lets those of the next one be read,
  /// unless it is the last of step `last`.
  void loadBatch(const TrainingState &state, int64_t step, int64_t microStep, int64_t last) const;
  /// Runs a part of step `step` and tells the observers.
  template <typename Action> void run(Phase phase, int64_t step, const Action &action) const {
    auto begin = Observer::Clock::now();
    action();
    auto end = Observer::Clock::now();
    for (Observer *observer : observers)
      observer->phase(phase, step, begin, end);
  }
  /// Lets the loss at an offset be kept as it is when what was asked for so far has run; `loss`
  /// then waits for it.
  int64_t requestLoss(int64_t offset) const;
  double loss(int64_t request) const;

  /// The same of a step, when all of its micro-steps have run and its update has not; the loss of
  /// its only one is at `offset`.
  struct StepRequest {
    int64_t loss, count;
  };
  StepRequest requestStepLoss(int64_t offset) const;
  StepLoss stepLoss(const StepRequest &request) const;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SESSION_H
