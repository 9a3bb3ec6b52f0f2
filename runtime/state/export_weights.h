// --export-weights: the trained weights under the names and in the layouts of the user's module.
#ifndef MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H
#define MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H

#include "runtime/state/divergence.h"
#include "runtime/state/variables.h"

#include <string>

namespace mtc::runtime {

/// Writes a safetensors file that `module.load_state_dict(load_file(path))` accepts: parameters,
/// running statistics and buffers as the module has them, each under all of its names, adapters
/// merged into the weights that they adapt. `batches` are those that were trained. Warns of
/// parameters whose names in the module are not known. Durable. A fault of the system, and no file,
/// if one of `finite` is not.
void exportWeights(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                   int threads, const WeightsChoice &weights, int64_t batches,
                   const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H
