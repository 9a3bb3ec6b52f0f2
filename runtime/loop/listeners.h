// The listeners of a training run, as requested by flags.
#ifndef MTC_RUNTIME_LOOP_LISTENERS_H
#define MTC_RUNTIME_LOOP_LISTENERS_H

#include "runtime/loop/options.h"
#include "runtime/reports/run_listener.h"

namespace mtc::runtime {

/// Adds the listeners of the given options to a run of a program that starts after `step` steps.
/// Throws if one of their files cannot be written.
void addListeners(const MtcProgram &program, const Options &options, int64_t step,
                  RunListeners &listeners);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_LISTENERS_H
