// The learning rate of each step.
#ifndef MTC_RUNTIME_LOOP_SCHEDULE_H
#define MTC_RUNTIME_LOOP_SCHEDULE_H

#include "runtime/state/training_state.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// The rate of step `step` (from 1) by a schedule of `scheduleSteps` steps: what PyTorch and
/// Hugging Face call step `step - 1` (from 0). In the first `warmup` steps it rises on a line from
/// 0, or from the least rate where the schedule says so, which step 1 has, unless the schedule has
/// a rise of its own; then it is the schedule's.
double learningRate(const MtcProgram &program, int64_t step, int64_t scheduleSteps);

/// The end of the schedule for a run from `state` to step `total`: what --schedule-steps says
/// (`given`); otherwise that of the checkpoint, so that a run that goes on has the rates of a run
/// without the pause; without a checkpoint `total`. A mistake of the user if it lies before `total`
/// and the rate is 0 after it, since what follows would not train; a warning if it makes the rate
/// jump, or if the rate of the only step is 0.
int64_t chooseScheduleSteps(const MtcProgram &program, const TrainingState &state, int64_t total,
                            std::optional<int64_t> given);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SCHEDULE_H
