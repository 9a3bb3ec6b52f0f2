// Kinds of variables.
#ifndef MTC_RUNTIME_STATE_VARIABLES_H
#define MTC_RUNTIME_STATE_VARIABLES_H

#include "runtime/abi/program.h"

namespace mtc::runtime {

/// Returns whether checkpoints contain the variable.
bool isSaved(const MtcVariable &variable);

/// Returns the lower halves of a variable's f32 elements; null if no variable has them.
const MtcVariable *lowHalfOf(const MtcProgram &program, uint32_t variable);

/// Returns the tensor of a variable's whole value, of all ranks and with joined halves. `low` is
/// that of lowHalfOf.
MtcTensor wholeTensor(const MtcVariable &variable, const MtcVariable *low);

/// Returns whether a variable is a sum over the micro-steps of a step, and so 0 between steps.
bool isSumOfStep(const MtcProgram &program, const MtcVariable &variable);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VARIABLES_H
