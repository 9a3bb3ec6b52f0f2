// Evaluates the learning rate schedule of a program.
#include "runtime/loop/schedule.h"

#include "runtime/abi/schedule.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <cstdio>
#include <string>

namespace mtc::runtime {

/// Returns the program's schedule, whose name the compiler has checked.
static const abi::Schedule &scheduleOf(const MtcProgram &program) {
  return *abi::findSchedule(program.schedule.kind);
}

double learningRate(const MtcProgram &program, int64_t step, int64_t scheduleSteps) {
  const abi::Schedule &kind = scheduleOf(program);
  const MtcSchedule &schedule = program.schedule;
  const auto before = static_cast<double>(step - 1);
  if (step <= schedule.warmup && !kind.risesItself) {
    const double start = kind.warmsUpFromLeast ? schedule.least : 0;
    return start + (schedule.rate - start) * before / static_cast<double>(schedule.warmup);
  }
  return kind.rate(schedule, before, static_cast<double>(scheduleSteps));
}

/// Returns the names of the schedules that depend on the last step: "linear, cosine".
static std::string schedulesWithEnd() {
  std::string names;
  for (const abi::Schedule &each : abi::schedules)
    if (each.hasEnd)
      names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

int64_t chooseScheduleSteps(const MtcProgram &program, const TrainingState &state, int64_t total,
                            std::optional<int64_t> given) {
  if (!scheduleOf(program).hasEnd) {
    if (given)
      userError("--schedule-steps ", *given, ": the learning rate of this program's schedule, ",
                program.schedule.kind,
                ", does not depend on where it ends; compile it with "
                "--schedule and one of ",
                schedulesWithEnd());
    return total;
  }
  const int64_t before = state.scheduleSteps; // 0: no checkpoint
  const int64_t chosen = given.value_or(before ? before : total), next = state.step + 1;
  auto rate = [&](int64_t scheduleSteps) { return learningRate(program, next, scheduleSteps); };
  if (chosen < total && next <= total && learningRate(program, total, chosen) == 0) {
    if (given)
      userError("--schedule-steps ", *given,
                ": the learning rate would be 0 after this step, "
                "and the run ends at step ",
                total, "; expected at least ", total);
    userError("the learning rate is 0 after step ", before,
              ", where the schedule of the "
              "checkpoint's run ends, and this run ends at step ",
              total, ". Train to step ", before, " at most, or give --schedule-steps ", total,
              ": the rate of step ", next, " is then ", rate(total), " and not ", rate(before));
  }
  if (next == total && program.schedule.rate > 0 && rate(chosen) == 0)
    warn("the learning rate of step ", next,
         ", the only one of this run, is 0: no parameter changes",
         next <= program.schedule.warmup ? "; the warm-up starts at 0, so train for more steps, or "
                                           "compile without --warmup"
                                         : "");
  if (before && rate(chosen) != rate(before))
    warn("--schedule-steps ", chosen, ": the learning rate of step ", next, " is ", rate(chosen),
         "; by the checkpoint's schedule, which ends at step ", before, ", it would be ",
         rate(before));
  return chosen;
}

} // namespace mtc::runtime
