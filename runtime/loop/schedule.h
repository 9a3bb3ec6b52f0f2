// The learning rate of each step.
#ifndef MTC_RUNTIME_LOOP_SCHEDULE_H
#define MTC_RUNTIME_LOOP_SCHEDULE_H

#include "runtime/state/training_state.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Returns the schedule of a run: that of the state, or the compiled one. Its pointers are valid as
/// long as the state's schedule.
MtcSchedule scheduleOf(const MtcProgram &program, const TrainingState &state);

/// Returns the rate of step `step` (from 1) in a schedule of `scheduleSteps` steps; PyTorch and
/// Hugging Face count this step as `step - 1`. During the first `warmup` steps the rate rises
/// linearly from 0, or from the minimum rate at step 1 if the schedule has `warmsUpFromMin` set,
/// unless the schedule has `risesItself` set. After the warm-up it is the rate of the schedule.
double learningRate(const MtcSchedule &schedule, int64_t step, int64_t scheduleSteps);

/// Returns the last step of the schedule for a run from `state` to step `total`: the value of
/// --schedule-steps (`given`); otherwise that of the checkpoint, so that a resumed run has the
/// rates of an uninterrupted one; otherwise `total`. `before` is the state of the checkpoint, in
/// which only the schedule may differ from `state`; null if the run does not resume. Throws a user
/// error if the schedule ends before `total` with a rate of 0, because later steps would not train.
/// Warns if `flags`, the schedule flags of the run, change the schedule of the checkpoint, if the
/// rate becomes discontinuous, or if the rate of the only step is 0.
int64_t chooseScheduleSteps(const MtcProgram &program, const TrainingState &state,
                            const TrainingState *before, int64_t total,
                            std::optional<int64_t> given, const std::string &flags);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SCHEDULE_H
