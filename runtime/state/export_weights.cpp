// A tensor of the module may consist of elements of several variables, and a variable may have
// several names in the module.
#include "runtime/state/export_weights.h"

#include "runtime/io/safetensors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/messages.h"

#include <cstring>

namespace mtc::runtime {

/// Returns whether a variable is a factor of an adapter, which the export merges into its base.
static bool isFactor(const MtcProgram &program, uint32_t variable) {
  const auto index = static_cast<int32_t>(variable);
  for (uint32_t i = 0; i < program.adapter_count; ++i)
    if (program.adapters[i].down == index || program.adapters[i].up == index)
      return true;
  return false;
}

/// Returns whether the module has the variable. Constants without an image were created by the
/// exporter.
static bool isExported(const MtcProgram &program, uint32_t index) {
  const MtcVariable &variable = program.variables[index];
  if (variable.role == MTC_CONSTANT)
    return variable.image_count > 0;
  const bool isWeight =
      variable.role == MTC_PARAMETER || variable.role == MTC_FROZEN || variable.role == MTC_STATE;
  return isWeight && !isFactor(program, index);
}

template <typename Count> static void addTo(std::vector<char> &value, int64_t added) {
  Count count;
  std::memcpy(&count, value.data(), sizeof count);
  count = static_cast<Count>(count + static_cast<Count>(added));
  std::memcpy(value.data(), &count, sizeof count);
}

std::vector<char> valueOf(const MtcBuffer &buffer, int64_t batches) {
  const auto *data = static_cast<const char *>(buffer.data);
  std::vector<char> value(data, data + buffer.tensor.bytes);
  if (!buffer.counts_batches)
    return value;
  switch (buffer.tensor.bytes) {
  case 1:
    addTo<uint8_t>(value, batches);
    break;
  case 2:
    addTo<uint16_t>(value, batches);
    break;
  case 4:
    addTo<uint32_t>(value, batches);
    break;
  default:
    addTo<uint64_t>(value, batches);
  }
  return value;
}

/// Warns once about all variables whose names in the module are unknown.
static void warnOfUnknownNames(const MtcProgram &program, const std::string &path) {
  std::string names;
  int count = 0;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (isExported(program, i) && !program.variables[i].is_in_module && ++count <= 5)
      names += (names.empty() ? "'" : ", '") + std::string(program.variables[i].tensor.name) + "'";
  if (count)
    warn(path, ": the names that the module has for ", count, " tensors are not known: ", names,
         count > 5 ? ", ..." : "", "; they have those of the ONNX file's initializers");
}

std::vector<ModuleTensor> exportedTensors(const MtcProgram &program) {
  return moduleTensors(program, ModuleNames::All,
                       [&](uint32_t variable) { return isExported(program, variable); });
}

void readTensor(const ExportedValues &values, const ModuleTensor &tensor, const Device::Use &use) {
  if (tensor.isPlain())
    return values.read(tensor.pieces.front().variable, use);
  const std::vector<char> bytes =
      compose(tensor, [&](uint32_t variable) { return values.value(variable); });
  use(bytes.data(), 0, static_cast<int64_t>(bytes.size()));
}

void exportWeights(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                   int threads, const WeightsChoice &weights, int64_t batches,
                   const std::string &path) {
  const ExportedValues values(program, device, finite, threads, weights, path);
  const std::vector<ModuleTensor> tensors = exportedTensors(program);
  std::vector<SafetensorsEntry> entries;
  entries.reserve(tensors.size() + program.buffer_count);
  for (const ModuleTensor &tensor : tensors)
    entries.push_back({tensor.name, tensor.type, tensor.dims});
  for (uint32_t i = 0; i < program.buffer_count; ++i) {
    const MtcTensor &buffer = program.buffers[i].tensor;
    entries.push_back({buffer.name, buffer.type, shapeOf(buffer)});
  }
  SafetensorsWriter writer(path, entries,
                           {{"format", "pt"}, {MTC_WEIGHTS_NAMES, MTC_MODULE_NAMES}});
  for (size_t i = 0; i < tensors.size(); ++i)
    readTensor(values, tensors[i], [&](const char *from, int64_t at, int64_t bytes) {
      writer.write(i, at, from, bytes);
    });
  for (uint32_t i = 0; i < program.buffer_count; ++i) {
    const std::vector<char> value = valueOf(program.buffers[i], batches);
    writer.write(tensors.size() + i, 0, value.data(), static_cast<int64_t>(value.size()));
  }
  writer.commit();
  warnOfUnknownNames(program, path);
}

} // namespace mtc::runtime
