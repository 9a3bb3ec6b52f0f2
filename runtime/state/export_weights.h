// --export-weights: writes the trained weights under the names and in the layouts of the user's
// module.
#ifndef MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H
#define MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H

#include "runtime/state/divergence.h"
#include "runtime/state/exported_values.h"
#include "runtime/state/module_tensors.h"
#include "runtime/state/variables.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns the tensors of the module's state_dict that variables hold, each under all of its names.
std::vector<ModuleTensor> exportedTensors(const MtcProgram &program);

/// Passes the value of one of these tensors to `use` in chunks that cover each element once, in
/// order.
void readTensor(const ExportedValues &values, const ModuleTensor &tensor, const Device::Use &use);

/// Returns the bytes of a buffer of the module after `batches` trained batches.
std::vector<char> valueOf(const MtcBuffer &buffer, int64_t batches);

/// Writes a safetensors file that `module.load_state_dict(load_file(path))` accepts: parameters,
/// running statistics and buffers in the module's layout, each under all of its names, with
/// adapters merged into their base weights. `batches` is the number of trained batches. Warns about
/// parameters without a known name in the module. The file is durable. Throws a system error, and
/// writes no file, if a variable of `finite` is not finite.
void exportWeights(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                   int threads, const WeightsChoice &weights, int64_t batches,
                   const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H
