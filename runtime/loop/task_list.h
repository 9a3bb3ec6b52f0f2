// Tasks of a rank of a program with pipeline stages.
#ifndef MTC_RUNTIME_LOOP_TASKLIST_H
#define MTC_RUNTIME_LOOP_TASKLIST_H

#include "runtime/loop/session.h"

#include <cstdint>

namespace mtc::runtime {

/// Runs a task other than a load, as a part of step `step`: starts a message, waits for one, or
/// runs a function in phase `phase`. A wait between micro-steps is a phase of its own.
void runTask(const Session &session, const MtcTask &task, Phase phase, int64_t step);

/// Returns the next load of a list from number `from` on; null if there is none.
const MtcTask *findLoad(const MtcTaskList &list, uint32_t from);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_TASKLIST_H
