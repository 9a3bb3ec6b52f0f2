// Runs that compute gradients and update nothing: --gradients.
#ifndef MTC_RUNTIME_LOOP_GRADIENTS_H
#define MTC_RUNTIME_LOOP_GRADIENTS_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// --gradients: writes every gradient of the first batch under its parameter's name. Where the
/// program scales its loss they are divided by the scale, which is first lowered as skipped steps
/// would lower it.
void writeGradients(const Session &session, const TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_GRADIENTS_H
