#include "runtime/loop/task_list.h"

#include <algorithm>
#include <cassert>

namespace mtc::runtime {

void runTask(const Session &session, const MtcTask &task, Phase phase, int64_t step) {
  switch (task.kind) {
  case MTC_START_TASK:
    return session.device.startMessage(task.index);
  case MTC_WAIT_TASK:
    return session.run(phase == Phase::MicroStep ? Phase::Wait : phase, step,
                       [&] { session.device.waitForMessage(task.index); });
  case MTC_RUN_TASK:
    return session.run(phase, step, [&] { session.device.call(task.index); });
  default:
    assert(false && "a task that the ABI does not have");
  }
}

const MtcTask *findLoad(const MtcTaskList &list, uint32_t from) {
  const MtcTask *end = list.tasks + list.count;
  const MtcTask *found = std::find_if(
      list.tasks + from, end, [](const MtcTask &task) { return task.kind == MTC_LOAD_TASK; });
  return found == end ? nullptr : found;
}

} // namespace mtc::runtime
