// Weights of a trainer under the names of the module.
#include "runtime/library/trainer.h"
#include "runtime/state/export_model.h"
#include "runtime/state/export_weights.h"
#include "runtime/state/exported_tensor.h"
#include "runtime/state/frozen_matrix.h"
#include "runtime/state/image_blocks.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

void Trainer::listWeights() {
  tensors = stateDict(program);
  for (const ExportedTensor &tensor : tensors)
    weightList.push_back({tensor.name, tensor.type, tensor.dims, tensor.bytes()});
}

/// Returns the index of a weight in `weightList`.
size_t Trainer::findWeight(const std::string &name, size_t bytes) const {
  const auto found = std::find_if(weightList.begin(), weightList.end(),
                                  [&](const Weight &weight) { return weight.name == name; });
  if (found == weightList.end())
    userError("weight '", name, "': the model does not have it");
  if (static_cast<size_t>(found->bytes) != bytes)
    userError("weight '", name, "': expected ", found->bytes, " bytes (", typeName(found->type),
              " ", shapeText(found->dims), "), got ", bytes);
  return static_cast<size_t>(found - weightList.begin());
}

void Trainer::readWeight(const std::string &name, char *to, size_t bytes) {
  checkUsable();
  const size_t index = findWeight(name, bytes);
  onDevice([&] {
    const FiniteVariables any;
    ExportedValues values(program, *device, any, *initial, name);
    writeTensor(program, values, tensors[index], trainedBatches(program, state),
                [&](int64_t at, const char *from, int64_t count) {
                  std::memcpy(to + at, from, static_cast<size_t>(count));
                });
    device->wait();
  });
}

void Trainer::writeWeight(const std::string &name, const char *from, size_t bytes) {
  checkUsable();
  const size_t index = findWeight(name, bytes);
  if (tensors[index].buffer)
    userError("weight '", name, "': is a buffer that the model does not use; it cannot be written");
  for (const ModuleTensor::Piece &piece : tensors[index].pieces)
    for (uint32_t i = 0; i < program.adapter_count; ++i)
      if (program.adapters[i].base == static_cast<int32_t>(piece.variable))
        userError("weight '", name,
                  "': has an adapter, which its value includes; it cannot be "
                  "written");
  const std::vector<char> elements(from, from + bytes);
  onDevice([&] {
    for (const ModuleTensor::Piece &piece : tensors[index].pieces)
      writePiece(piece, tensors[index].type, elements);
  });
  copiesAreStale = true;
  finite.reset();
}

/// Writes the elements of a module's tensor that belong to one variable.
void Trainer::writePiece(const ModuleTensor::Piece &piece, uint32_t type,
                         const std::vector<char> &elements) {
  const MtcVariable &variable = program.variables[piece.variable];
  const StoredVariable stored(program, piece.variable);
  std::vector<char> value = elements;
  if (!isWhole(piece.image)) {
    const FiniteVariables any;
    const std::string name = variable.tensor.name;
    value = ExportedValues(program, *device, any, *initial, name).value(piece.variable);
    const int64_t size = typeBytes(type), count = static_cast<int64_t>(value.size()) / size;
    for (const ImageBlock &block : blocksOf(piece.image, count))
      copyToVariable(block, size, elements.data(), 0, value.data(), 0);
  }
  if (variable.source) {
    FrozenMatrix matrix(variable, inStorageOrder(variable, value), options.threads);
    return device->write(addressOf(variable.tensor), variable.tensor.bytes,
                         [&](char *to, int64_t at, int64_t count) { matrix.write(to, at, count); });
  }
  stored.write(*device, [&](char *to, int64_t at, int64_t count) {
    std::memcpy(to, value.data() + at, static_cast<size_t>(count));
  });
  if (state.step > 0)
    return;
  // Averages begin at the initial weights.
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &average = program.variables[i];
        average.role == MTC_AVERAGE && average.initial == MTC_INITIAL_PARAMETER &&
        average.of == static_cast<int32_t>(piece.variable))
      stored.copyTo(*device, average);
}

void Trainer::exportWeights(const std::string &file) {
  checkUsable();
  onDevice([&] {
    runtime::exportWeights(program, *device, finiteVariables(), *initial,
                           trainedBatches(program, state), {}, file);
  });
}

void Trainer::exportModel(const std::string &file) {
  checkUsable();
  onDevice([&] {
    runtime::exportModel(program, *device, finiteVariables(), *initial, MTC_INFERENCE_FORM, file);
  });
}

} // namespace mtc::runtime
