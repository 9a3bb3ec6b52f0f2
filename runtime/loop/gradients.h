// Runs that compute gradients without updates: --gradients.
#ifndef MTC_RUNTIME_LOOP_GRADIENTS_H
#define MTC_RUNTIME_LOOP_GRADIENTS_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// Implements --gradients: writes every gradient of the first batch under the name of its
/// parameter. If the program scales its loss, the gradients are divided by the scale, which is
/// first lowered as skipped steps would lower it.
void writeGradients(const Session &session, const TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_GRADIENTS_H
