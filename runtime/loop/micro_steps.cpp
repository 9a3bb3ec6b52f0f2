// A micro-step is a load and a run; a list of tasks has several parts of each.
#include "runtime/loop/micro_steps.h"

#include "runtime/loop/stop_signal.h"
#include "runtime/loop/task_list.h"
#include "runtime/support/failure.h"

#include <algorithm>

namespace mtc::runtime {

/// Returns whether a signal has arrived and the remaining parts would take more than a second, at
/// the speed of the completed ones. Several ranks stop between steps only.
bool MicroSteps::stopsBefore(int64_t remaining) const {
  if (!StopSignal::received() || session.ranks.count() > 1 || count == 0)
    return false;
  const std::chrono::duration<double> taken = Clock::now() - begin;
  return taken.count() / static_cast<double>(count) * static_cast<double>(remaining) > 1;
}

/// Loads a batch and prefetches the one at `next`. Returns false if it cannot be read.
bool MicroSteps::load(int64_t microStep, const BatchPosition &next) {
  try {
    session.run(Phase::Load, step, [&] {
      writeScalars(microStep);
      shaped = &session.loadBatch({step, microStep}, next);
    });
  } catch (const Failure &) {
    if (session.ranks.count() > 1)
      throw;
    unreadable = std::current_exception();
    return false;
  }
  return true;
}

bool MicroSteps::run() {
  if (session.program.micro_steps.count)
    return runTasks();
  const int64_t all = session.microSteps();
  for (int64_t micro = 0; micro < all; ++micro) {
    const BatchPosition next = micro + 1 < all ? BatchPosition{step, micro + 1}
                               : step < last   ? BatchPosition{step + 1, 0}
                                               : noBatch;
    if (stopsBefore(all - micro) || !load(micro, next))
      return false;
    session.run(Phase::MicroStep, step, [&] { session.device.run(shaped->micro_step); });
    ++count;
  }
  return true;
}

bool MicroSteps::runTasks() {
  const MtcTaskList &list = session.program.micro_steps;
  int64_t remaining = std::count_if(list.tasks, list.tasks + list.count,
                                    [](const MtcTask &task) { return task.kind == MTC_RUN_TASK; });
  for (uint32_t i = 0; i < list.count; ++i) {
    const MtcTask &task = list.tasks[i];
    if (task.kind == MTC_LOAD_TASK) {
      const MtcTask *next = findLoad(list, i + 1);
      if (stopsBefore(remaining) ||
          !load(task.micro_step, next ? BatchPosition{step, next->micro_step}
                                 : step < last
                                     ? BatchPosition{step + 1, findLoad(list, 0)->micro_step}
                                     : noBatch))
        return false;
      continue;
    }
    if (task.kind == MTC_RUN_TASK) {
      writeScalars(task.micro_step);
      ++count;
      --remaining;
    }
    runTask(session, task, Phase::MicroStep, step);
  }
  return true;
}

} // namespace mtc::runtime
