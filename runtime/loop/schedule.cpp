// Evaluates the learning rate schedule of a program.
#include "runtime/loop/schedule.h"

#include "runtime/abi/schedule.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <string>

namespace mtc::runtime {

MtcSchedule scheduleOf(const MtcProgram &program, const TrainingState &state) {
  return state.schedule ? state.schedule->view() : program.schedule;
}

/// Returns the kind of a schedule, whose name the compiler or the flag's parser has checked.
static const abi::Schedule &kindOf(const MtcSchedule &schedule) {
  return *abi::findSchedule(schedule.kind);
}

double learningRate(const MtcSchedule &schedule, int64_t step, int64_t scheduleSteps) {
  const abi::Schedule &kind = kindOf(schedule);
  const auto before = static_cast<double>(step - 1);
  if (step <= schedule.warmup && !kind.risesItself) {
    const double start = kind.warmsUpFromMin ? schedule.min_rate : 0;
    return start + (schedule.rate - start) * before / static_cast<double>(schedule.warmup);
  }
  return kind.rate(schedule, before, static_cast<double>(scheduleSteps));
}

/// Returns `step` if the rates of the schedule depend on its last step, otherwise 0.
static int64_t endOf(const MtcSchedule &schedule, int64_t step) {
  return kindOf(schedule).hasEnd ? step : 0;
}

/// Throws a user error if the run continues after the end of the schedule, with a rate of 0.
static void checkEnd(const MtcSchedule &schedule, int64_t next, int64_t total, int64_t end,
                     std::optional<int64_t> given) {
  if (end >= total || next > total || learningRate(schedule, total, end) != 0)
    return;
  if (given)
    userError("--schedule-steps ", *given,
              ": the learning rate would be 0 after this step, "
              "and the run ends at step ",
              total, "; expected at least ", total);
  userError("the learning rate is 0 after step ", end,
            ", where the schedule of the checkpoint's run ends, and this run ends at step ", total,
            ". Train to step ", end, " at most, or give --schedule-steps ", total,
            ": the rate of step ", next, " is then ", learningRate(schedule, next, total),
            " and not ", learningRate(schedule, next, end));
}

int64_t chooseScheduleSteps(const MtcProgram &program, const TrainingState &state,
                            const TrainingState *before, int64_t total,
                            std::optional<int64_t> given, const std::string &flags) {
  const MtcSchedule schedule = scheduleOf(program, state);
  if (given && !kindOf(schedule).hasEnd)
    userError("--schedule-steps ", *given, ": the learning rate of this program's schedule, ",
              schedule.kind, ", does not depend on where it ends; give --schedule and one of ",
              abi::schedulesWith(&abi::Schedule::hasEnd));
  const MtcSchedule known = before ? scheduleOf(program, *before) : schedule;
  const int64_t knownEnd = before ? endOf(known, before->scheduleSteps) : 0;
  const int64_t next = state.step + 1, inherited = endOf(schedule, knownEnd);
  const int64_t chosen = given.value_or(inherited ? inherited : total);
  if (kindOf(schedule).hasEnd)
    checkEnd(schedule, next, total, chosen, given);
  const double rate = learningRate(schedule, next, chosen);
  if (next == total && schedule.rate > 0 && rate == 0)
    warn("the learning rate of step ", next,
         ", the only one of this run, is 0: no parameter changes",
         next <= schedule.warmup
             ? "; the warm-up starts at 0, so train for more steps, or give --warmup 0"
             : "");
  if (!before || next > total)
    return chosen;
  const double expected = learningRate(known, next, knownEnd ? knownEnd : total);
  const bool isReplaced = ScheduleSettings(schedule) != ScheduleSettings(known);
  if (isReplaced)
    warn(flags, ": the checkpoint's run had ", ScheduleSettings(known).flags(),
         "; the learning rate of step ", next, " is ", rate,
         rate == expected ? "" : text(" and not ", expected));
  else if (rate != expected)
    warn("--schedule-steps ", chosen, ": the learning rate of step ", next, " is ", rate,
         "; by the checkpoint's schedule, which ends at step ", knownEnd, ", it would be ",
         expected);
  return chosen;
}

} // namespace mtc::runtime
