// The listeners of a training run that the command line asks for.
#ifndef MTC_RUNTIME_LOOP_LISTENERS_H
#define MTC_RUNTIME_LOOP_LISTENERS_H

#include "runtime/loop/options.h"
#include "runtime/loop/session.h"
#include "runtime/reports/run_listener.h"

namespace mtc::runtime {

/// Adds the listeners of the given options to a run that starts after `step` steps. Opens their
/// files; throws if one cannot be written.
void addListeners(const Options &options, int64_t step, RunListeners &listeners);

/// Returns the properties of a run until step `total`.
RunFacts factsOf(const Session &session, const TrainingState &state, int64_t total);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_LISTENERS_H
