// --export-weights: writes the trained weights under the names and in the layouts of the user's
// module.
#ifndef MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H
#define MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H

#include "runtime/state/divergence.h"
#include "runtime/state/initial_weights.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// The form of exported weights.
struct WeightsFormat {
  /// MtcType of tensors of f32, bf16 and f16; nullopt: that of the loaded weights in a folder, and
  /// that of the program in a file.
  std::optional<uint32_t> type;
  int64_t maxShardBytes = 5'000'000'000; ///< the default of Transformers' save_pretrained
};

/// Writes the weights with adapters merged into their base weights, to a file or folder
/// (`isWeightsFolder`).
///
/// A file has the module's state_dict, which `module.load_state_dict(load_file(path))` accepts. A
/// folder, which `from_pretrained` accepts, has the names, types and unknown tensors of the weights
/// that the run started from, and copies of their configuration and tokenizer.
///
/// `batches` is the number of trained batches. Warns about parameters without a known name in the
/// module. File or folder appear completely or not at all. Throws a system error, and writes
/// nothing, if a variable of `finite` is not finite.
void exportWeights(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                   const InitialWeights &weights, int64_t batches, const WeightsFormat &format,
                   const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORT_WEIGHTS_H
