// The learning rate of each step.
#ifndef MTC_RUNTIME_LOOP_SCHEDULE_H
#define MTC_RUNTIME_LOOP_SCHEDULE_H

#include "runtime/state/training_state.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// Returns the rate of step `step` (from 1) in a schedule of `scheduleSteps` steps; PyTorch and
/// Hugging Face count this step as `step - 1`. During the first `warmup` steps the rate rises
/// linearly from 0, or from the minimum rate at step 1 if the schedule has `warmsUpFromLeast` set,
/// unless the schedule has `risesItself` set. After the warm-up it is the rate of the schedule.
double learningRate(const MtcProgram &program, int64_t step, int64_t scheduleSteps);

/// Returns the last step of the schedule for a run from `state` to step `total`: the value of
/// --schedule-steps (`given`); otherwise that of the checkpoint, so that a resumed run has the
/// rates of an uninterrupted one; otherwise `total`. Throws a user error if the schedule ends
/// before `total` with a rate of 0, because later steps would not train. Warns if the rate becomes
/// discontinuous, or if the rate of the only step is 0.
int64_t chooseScheduleSteps(const MtcProgram &program, const TrainingState &state, int64_t total,
                            std::optional<int64_t> given);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SCHEDULE_H
