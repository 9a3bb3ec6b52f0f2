// The tensors that exports of weights have.
#include "runtime/state/exported_tensor.h"
#include "runtime/state/image_blocks.h"
#include "runtime/support/element_type.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace mtc::runtime {
namespace {

/// Returns whether a variable is a factor of an adapter, which the export merges into its base.
bool isFactor(const MtcProgram &program, uint32_t variable) {
  const auto index = static_cast<int32_t>(variable);
  return std::any_of(
      program.adapters, program.adapters + program.adapter_count, [&](const MtcAdapter &adapter) {
        return adapter.down == index || adapter.up == index || adapter.magnitude == index;
      });
}

/// Returns whether the module has the variable. Constants without an image were created by the
/// exporter.
bool isExported(const MtcProgram &program, uint32_t index) {
  const MtcVariable &variable = program.variables[index];
  if (variable.role == MTC_CONSTANT)
    return variable.image_count > 0;
  const bool isWeight =
      variable.role == MTC_PARAMETER || variable.role == MTC_FROZEN || variable.role == MTC_STATE;
  return isWeight && !isFactor(program, index);
}

ExportedTensor tensorOf(const MtcBuffer &buffer, const char *name) {
  ExportedTensor tensor{name, buffer.tensor.type, shapeOf(buffer.tensor), {}};
  tensor.buffer = &buffer;
  return tensor;
}

void addTensors(const MtcProgram &program, ModuleNames names,
                const std::function<bool(uint32_t)> &includes,
                const std::function<std::string(const std::string &)> &rename,
                std::vector<ExportedTensor> &tensors) {
  for (ModuleTensor &each : moduleTensors(program, names, includes))
    tensors.push_back({rename(each.name), each.type, std::move(each.dims), std::move(each.pieces)});
}

/// Returns whether values of a type are converted to another by an export.
bool isConverted(uint32_t type) { return type == MTC_F32 || mtc_is_narrow_float(type); }

/// Returns the names of the optimizer's state, which data files of checkpoints have.
std::set<std::string> stateOfRuns(const MtcProgram &program) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &variable = program.variables[i];
        variable.role == MTC_OPTIMIZER || variable.role == MTC_AVERAGE || isFactor(program, i))
      names.insert(variable.tensor.name);
  return names;
}

/// Builds the list of a folder that replaces given weights.
class Replacement {
public:
  Replacement(const MtcProgram &program, const NamedWeights &weights)
      : program(program), weights(weights) {
    const std::set<std::string> omitted = stateOfRuns(program);
    for (const auto &[name, array] : weights.file().tensors())
      if (!omitted.contains(name))
        tensors[name] = {name, array.type, array.dims, {}, nullptr, &array};
  }

  std::vector<ExportedTensor> list() {
    for (uint32_t i = 0; i < program.variable_count; ++i)
      if (isExported(program, i) && program.variables[i].role != MTC_CONSTANT)
        replace(i);
    for (uint32_t i = 0; i < program.buffer_count; ++i)
      for (const char *name : {program.buffers[i].tensor.name, program.buffers[i].pretrained_name})
        if (auto found = tensors.find(weights.nameInFile(name));
            found != tensors.end() && found->second.type == program.buffers[i].tensor.type)
          std::tie(found->second.buffer, found->second.original) =
              std::pair(&program.buffers[i], nullptr);
    std::vector<ExportedTensor> all;
    all.reserve(tensors.size());
    for (auto &[name, tensor] : tensors)
      all.push_back(std::move(tensor));
    std::sort(all.begin(), all.end(), [&](const ExportedTensor &a, const ExportedTensor &b) {
      return placeOf(a.name) < placeOf(b.name);
    });
    addTensors(
        program, weights.isPretrained() ? ModuleNames::Pretrained : ModuleNames::First,
        [&](uint32_t i) {
          return isExported(program, i) && program.variables[i].role != MTC_CONSTANT &&
                 weights.of(i).empty();
        },
        [&](const std::string &name) { return weights.nameInFile(name); }, all);
    return all;
  }

private:
  /// Makes a variable the source of its elements under all of its names.
  void replace(uint32_t variable) {
    const MtcTensor value = valueOf(program, variable);
    auto use = [&](const std::vector<FoundTensor> &found) {
      for (const FoundTensor &each : found) {
        ExportedTensor &tensor = tensors.at(each.name);
        tensor.pieces.push_back({variable, each.image});
        int64_t &count = held[each.name];
        for (const ImageBlock &block : blocksOf(each.image, value.bytes / typeBytes(value.type)))
          count += block.count();
        if (count >= *elementCount(tensor.dims, 1))
          tensor.original = nullptr;
        if (!isConverted(tensor.type) || !isConverted(value.type))
          tensor.type = value.type;
      }
    };
    use(weights.of(variable));
    for (const std::vector<FoundTensor> &other : weights.repeated(variable))
      use(other);
  }

  std::pair<std::string, int64_t> placeOf(const std::string &name) const {
    const ArrayOnDisk *array = weights.file().find(name);
    return {array->file->path(), array->offset};
  }

  const MtcProgram &program;
  const NamedWeights &weights;
  std::map<std::string, ExportedTensor> tensors;
  std::map<std::string, int64_t> held; ///< number of a tensor's elements that variables have
};

} // namespace

std::vector<ExportedTensor> stateDict(const MtcProgram &program) {
  std::vector<ExportedTensor> tensors;
  addTensors(
      program, ModuleNames::All, [&](uint32_t i) { return isExported(program, i); },
      [](const std::string &name) { return name; }, tensors);
  for (uint32_t i = 0; i < program.buffer_count; ++i)
    tensors.push_back(tensorOf(program.buffers[i], program.buffers[i].tensor.name));
  return tensors;
}

std::vector<ExportedTensor> pretrainedTensors(const MtcProgram &program,
                                              const InitialWeights &weights) {
  // A folder has the names of save_pretrained, even if the run started from a state_dict.
  const bool renames =
      std::any_of(program.variables, program.variables + program.variable_count,
                  [](const MtcVariable &variable) { return variable.pretrained_image_count > 0; });
  if (const NamedWeights *chosen = weights.exportedNames();
      chosen && (!renames || !folderOfWeights(chosen->file().path()).empty()))
    return Replacement(program, *chosen).list();
  std::vector<ExportedTensor> tensors;
  addTensors(
      program, ModuleNames::Pretrained, [&](uint32_t i) { return isExported(program, i); },
      [](const std::string &name) { return name; }, tensors);
  for (uint32_t i = 0; i < program.buffer_count; ++i)
    tensors.push_back(tensorOf(program.buffers[i], program.buffers[i].pretrained_name));
  return tensors;
}

void setFloatType(std::vector<ExportedTensor> &tensors, uint32_t type) {
  for (ExportedTensor &tensor : tensors)
    if (!tensor.buffer && isConverted(tensor.type))
      tensor.type = type;
}

} // namespace mtc::runtime
