// Schedules of the learning rate.
#include "runtime/loop/schedule.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mtc::runtime {

double learningRate(const MtcProgram &program, int64_t step, int64_t scheduleSteps) {
  if (step <= program.warmup)
    return program.learning_rate * static_cast<double>(step) / static_cast<double>(program.warmup);
  if (program.schedule == MTC_CONSTANT_RATE)
    return program.learning_rate;
  double done = static_cast<double>(step - program.warmup) /
                static_cast<double>(scheduleSteps - program.warmup);
  done = std::clamp(done, 0.0, 1.0);
  if (program.schedule == MTC_LINEAR_RATE)
    return program.learning_rate * (1 - done);
  constexpr double pi = 3.14159265358979323846;
  return program.learning_rate * 0.5 * (1 + std::cos(pi * done));
}

int64_t chooseScheduleSteps(const MtcProgram &program, const TrainingState &state, int64_t total,
                            std::optional<int64_t> given) {
  if (program.schedule == MTC_CONSTANT_RATE) {
    if (given)
      userError("--schedule-steps ", *given,
                ": the learning rate of this program is constant; compile it with --schedule "
                "linear or cosine");
    return total;
  }
  const int64_t before = state.scheduleSteps; // 0: there is no checkpoint
  const int64_t chosen = given.value_or(before ? before : total), next = state.step + 1;
  auto rate = [&](int64_t scheduleSteps) { return learningRate(program, next, scheduleSteps); };
  if (chosen < total && next <= total) {
    if (given)
      userError("--schedule-steps ", *given,
                ": the learning rate would be 0 from this step on, "
                "and the run ends at step ",
                total, "; at least ", total, " is expected");
    userError("the learning rate is 0 from step ", before,
              " on, where the schedule of the "
              "checkpoint's run ends, and this run ends at step ",
              total, ". Train to step ", before, " at most, or give --schedule-steps ", total,
              ": the rate of step ", next, " is then ", rate(total), " and not ", rate(before));
  }
  if (before && rate(chosen) != rate(before))
    std::fprintf(stderr,
                 "warning: --schedule-steps %lld: the learning rate of step %lld is %g; by the "
                 "checkpoint's schedule, which ends at step %lld, it would be %g\n",
                 static_cast<long long>(chosen), static_cast<long long>(next), rate(chosen),
                 static_cast<long long>(before), rate(before));
  return chosen;
}

} // namespace mtc::runtime
