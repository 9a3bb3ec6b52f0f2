// Kinds of variables.
#ifndef MTC_RUNTIME_STATE_VARIABLES_H
#define MTC_RUNTIME_STATE_VARIABLES_H

#include "runtime/abi/program.h"

namespace mtc::runtime {

/// Returns whether checkpoints contain the variable.
bool isSaved(const MtcVariable &variable);

/// Returns whether a variable is a sum over the micro-steps of a step, and so 0 between steps.
bool isSumOfStep(const MtcProgram &program, const MtcVariable &variable);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VARIABLES_H
