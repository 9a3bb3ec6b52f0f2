// Properties of a run that follow from its program.
#ifndef MTC_RUNTIME_LOOP_PROGRAM_FACTS_H
#define MTC_RUNTIME_LOOP_PROGRAM_FACTS_H

#include "runtime/reports/run_listener.h"
#include "runtime/state/training_state.h"

namespace mtc::runtime {

/// Returns the properties of a run from `state` to step `total`, without those of its data.
RunFacts factsOf(const MtcProgram &program, const TrainingState &state, int64_t total);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_PROGRAM_FACTS_H
