// Tensors of exported weights.
#ifndef MTC_RUNTIME_STATE_EXPORTED_TENSOR_H
#define MTC_RUNTIME_STATE_EXPORTED_TENSOR_H

#include "runtime/state/exported_values.h"
#include "runtime/state/tensor_writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A tensor of exported weights and the sources of its elements.
struct ExportedTensor {
  std::string name;
  uint32_t type; ///< MtcType in the file
  std::vector<int64_t> dims;
  std::vector<ModuleTensor::Piece> pieces;
  const MtcBuffer *buffer = nullptr; ///< the only source if it is not null
  /// The tensor of the weights that the run started from, with the elements that no piece has; null
  /// if the pieces have all.
  const ArrayOnDisk *original = nullptr;

  int64_t bytes() const;
};

/// Returns the tensors of the module's state_dict: parameters, running statistics and buffers in
/// the module's layout, each under all of its names.
std::vector<ExportedTensor> stateDict(const MtcProgram &program);

/// Returns the tensors of a folder that replaces the one from which a run started: those of the
/// weights in the order of their files, under their names, followed by those that they lack.
/// Without such weights, the tensors of the module, each under its first name.
std::vector<ExportedTensor> pretrainedTensors(const MtcProgram &program,
                                              const InitialWeights &weights);

/// Changes the type of tensors of f32, bf16 and f16.
void setFloatType(std::vector<ExportedTensor> &tensors, uint32_t type);

/// Writes the value of a tensor in memory of a few MiB. `batches` is the number of trained batches.
void writeTensor(const MtcProgram &program, ExportedValues &values, const ExportedTensor &tensor,
                 int64_t batches, const WriteBytes &write);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORTED_TENSOR_H
