// --export and --export-training: writes the model with its trained weights.
#ifndef MTC_RUNTIME_STATE_EXPORT_MODEL_H
#define MTC_RUNTIME_STATE_EXPORT_MODEL_H

#include "runtime/state/divergence.h"
#include "runtime/state/variables.h"

#include <string>

namespace mtc::runtime {

/// Writes the model that the program was compiled from, in inference form or in its original form,
/// with the current values of the variables and with adapters merged into their base weights.
/// Frozen matrices in compressed storage are exported with their initial values. The file is
/// durable. Throws a system error, and writes no file, if a variable of `finite` is not finite.
void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 int threads, const WeightsChoice &weights, MtcExportForm form,
                 const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORT_MODEL_H
