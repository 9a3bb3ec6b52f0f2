// --export and --export-training: writes the model with its trained weights.
#ifndef MTC_RUNTIME_STATE_EXPORT_MODEL_H
#define MTC_RUNTIME_STATE_EXPORT_MODEL_H

#include "runtime/state/divergence.h"
#include "runtime/state/initial_weights.h"

#include <string>

namespace mtc::runtime {

/// Writes the model that the program was compiled from, in inference form or in its original form,
/// with the current values of the variables and with adapters merged into their base weights.
/// Frozen matrices in compressed storage are exported with their initial values. Data of a model of
/// more than 2 GiB is written to PATH.data, or to PATH.1.data if that file exists. The files are
/// durable, and the model is replaced after its data is complete. Throws a system error, and writes
/// no file, if a variable of `finite` is not finite.
void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 const InitialWeights &weights, MtcExportForm form, const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORT_MODEL_H
