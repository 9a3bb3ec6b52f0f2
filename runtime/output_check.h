// Checks of a run's output files, before the run starts.
#ifndef MTC_RUNTIME_OUTPUT_CHECK_H
#define MTC_RUNTIME_OUTPUT_CHECK_H

#include "runtime/loop/options.h"
#include "runtime/support/failure.h"

#include <string>

namespace mtc::runtime {

/// Adds a problem for each output file that the run must not write: a file that the run reads (the
/// program, its model, its weights, data, a checkpoint), under any name or link; a file given
/// twice; a file in a folder without write permission; a file that mtc did not write, unless
/// --force is given; or a path that is not a regular file, unless the output is a stream
/// (--metrics, --profile).
void checkOutputs(const MtcProgram &program, const std::string &programPath, const Options &options,
                  Problems &problems);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_OUTPUT_CHECK_H
