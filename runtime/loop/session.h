// State and helpers that all kinds of runs share: training, evaluation, outputs and gradients.
#ifndef MTC_RUNTIME_LOOP_SESSION_H
#define MTC_RUNTIME_LOOP_SESSION_H

#include "runtime/collectives/ranks.h"
#include "runtime/devices/device.h"
#include "runtime/devices/observer.h"
#include "runtime/loop/batch_choice.h"
#include "runtime/loop/batch_reader.h"
#include "runtime/loop/options.h"
#include "runtime/loop/step_scalars.h"
#include "runtime/reports/run_listener.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/checkpoint_history.h"
#include "runtime/state/divergence.h"
#include "runtime/state/training_state.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// A micro-step of this rank, whose batch follows from it.
struct BatchPosition {
  int64_t step;      ///< from 1; 0: no batch
  int64_t microStep; ///< from 0
};
inline constexpr BatchPosition noBatch = {0, 0};

struct Session {
  const MtcProgram &program;
  std::string programName; ///< of the executable
  const Options &options;
  Device &device;
  Ranks &ranks;
  Dataset &data;
  const BatchOrder *order; ///< of training and of gradients; null in other runs
  Dataset *validation;     ///< data of --validate; null if there is none
  BatchReader &batches;
  const std::vector<Observer *> &observers;
  RunListeners &listeners;       ///< of training
  CheckpointFolder *checkpoints; ///< destination of training checkpoints; null if none are saved
  CheckpointFolder *best;        ///< destination of the best checkpoint; null without --keep-best
  CheckpointHistory *history;    ///< the checkpoints of --keep; null without it
  const FiniteVariables &finite;

  /// Returns the number of micro-steps per step that this rank runs.
  int64_t microSteps() const { return program.accumulation.micro_steps / ranks.dataCount(); }
  /// Returns the number, among the micro-steps of all ranks, of this rank's micro-step `own`. The
  /// ranks take turns, so that sums over ranks and micro-steps have the order of one process. Ranks
  /// that share each layer run the same micro-steps.
  int64_t numberOf(int64_t own) const { return own * ranks.dataCount() + ranks.dataRank(); }
  /// Returns the scalars and losses of the program.
  StepScalars scalars() const { return {program, device}; }
  /// Loads the samples of a micro-step of this rank, and prefetches those of `next`. Returns the
  /// tables of the batch's shape.
  const MtcProgram &loadBatch(const BatchPosition &position, const BatchPosition &next) const;
  /// Runs a phase of step `step` and notifies the observers.
  template <typename Action> void run(Phase phase, int64_t step, const Action &action) const {
    auto begin = Observer::Clock::now();
    action();
    auto end = Observer::Clock::now();
    for (Observer *observer : observers)
      observer->phase(phase, step, begin, end);
  }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SESSION_H
