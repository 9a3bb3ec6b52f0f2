// --export and --export-training: the model with its trained weights.
#ifndef MTC_RUNTIME_STATE_EXPORT_MODEL_H
#define MTC_RUNTIME_STATE_EXPORT_MODEL_H

#include "runtime/state/divergence.h"
#include "runtime/state/variables.h"

#include <string>

namespace mtc::runtime {

/// Writes the model that the program was compiled from in inference form or in the form of its
/// file, with the values that its variables have now, adapters merged into the weights that they
/// adapt. Of what is stored in fewer bits it has the value that the run started with. Durable. A
/// fault of the system, and no file, if one of `finite` is not.
void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 int threads, const WeightsChoice &weights, MtcExportForm form,
                 const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORT_MODEL_H
