// Properties of a training run that its listeners report.
#ifndef MTC_RUNTIME_LOOP_RUN_FACTS_H
#define MTC_RUNTIME_LOOP_RUN_FACTS_H

#include "runtime/loop/session.h"
#include "runtime/reports/run_listener.h"

namespace mtc::runtime {

/// Returns the properties of a run until step `total`.
RunFacts factsOf(const Session &session, const TrainingState &state, int64_t total);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_RUN_FACTS_H
