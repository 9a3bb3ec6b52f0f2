// What a run may write to, found out before it starts.
#ifndef MTC_RUNTIME_OUTPUT_CHECK_H
#define MTC_RUNTIME_OUTPUT_CHECK_H

#include "runtime/loop/options.h"
#include "runtime/support/failure.h"

#include <string>

namespace mtc::runtime {

/// Adds a problem for each file that the run is to write and may not: one that it reads (the
/// program, its model, its weights, data, a checkpoint), by whatever name or link; the same file
/// twice; one in a folder that cannot be written to; one that mtc did not write, unless --force is
/// given; or something else than a file, unless it is written as a stream (--metrics, --profile).
void checkOutputs(const MtcProgram &program, const std::string &programPath, const Options &options,
                  Problems &problems);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_OUTPUT_CHECK_H
