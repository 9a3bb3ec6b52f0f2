// The factors and the saved modules are tensors of one file.
#include "runtime/state/adapters.h"

#include "runtime/io/durable_file.h"
#include "runtime/io/safetensors.h"
#include "runtime/state/module_tensors.h"
#include "runtime/state/saved_modules.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/tensor_writer.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

MtcTensor tensorOf(const MtcProgram &program, int32_t index) {
  return StoredVariable(program, static_cast<uint32_t>(index)).tensor();
}

/// Returns the module of an adapter's factor.
std::string moduleOf(const MtcProgram &program, const MtcAdapter &adapter) {
  std::string name = program.variables[adapter.down].tensor.name;
  return name.substr(0, name.rfind(".lora_A"));
}

/// Returns the input axis of the module's matrix; nullopt if the module stores the matrix in a form
/// other than the base or its transpose, or under several names.
std::optional<uint32_t> inputAxisInModule(const MtcProgram &program, const MtcAdapter &adapter) {
  const MtcVariable &base = program.variables[adapter.base];
  if (!base.is_in_module || base.image_count > 1)
    return std::nullopt;
  const int64_t *dims = valueOf(program, static_cast<uint32_t>(adapter.base)).dims;
  if (base.image_count == 0)
    return adapter.axis;
  const MtcTensorImage &image = base.images[0];
  auto isShape = [&](int64_t rows, int64_t columns) {
    return image.rank == 2 && image.dims[0] == rows && image.dims[1] == columns;
  };
  if (isWhole(&image))
    return isShape(dims[0], dims[1]) ? std::optional(adapter.axis) : std::nullopt;
  const MtcImagePart &part = image.parts[0];
  const bool isTransposed = isShape(dims[1], dims[0]) && image.part_count == 1 && part.rank == 2 &&
                            part.extents[0] == dims[1] && part.extents[1] == dims[0] &&
                            part.variable_strides[0] == 1 && part.variable_strides[1] == dims[1];
  return isTransposed ? std::optional(1 - adapter.axis) : std::nullopt;
}

/// A folder that is created if it is missing, and removed if it stays empty.
class MadeFolder {
public:
  explicit MadeFolder(const std::string &path) : path(path) {
    isMade = mkdir(path.c_str(), 0777) == 0;
    if (!isMade && errno != EEXIST)
      systemError(path, ": the folder cannot be made: ", std::strerror(errno));
  }
  ~MadeFolder() {
    if (isMade)
      rmdir(path.c_str()); // Fails if it has files.
  }
  MadeFolder(const MadeFolder &) = delete;
  MadeFolder &operator=(const MadeFolder &) = delete;

private:
  const std::string &path;
  bool isMade;
};

int64_t rankOf(const MtcProgram &program, const MtcAdapter &adapter) {
  return tensorOf(program, adapter.down).dims[0];
}

nlohmann::json textOrNull(const std::string &value) {
  return value.empty() ? nlohmann::json() : nlohmann::json(value);
}

nlohmann::json number(double value) {
  auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? nlohmann::json(whole) : nlohmann::json(value);
}

/// Returns the paths of the modules that have adapters.
std::set<std::string> adaptedModules(const MtcProgram &program) {
  std::set<std::string> modules;
  for (uint32_t i = 0; i < program.adapter_count; ++i)
    modules.insert(moduleOf(program, program.adapters[i]));
  return modules;
}

/// Returns the configuration for PEFT. `rank_pattern` and `alpha_pattern` list the adapters that
/// differ from the first one. PEFT scales all adapters of a file by one rule: unless all are
/// rank-stabilized, alpha is the scale times the rank.
std::string describeAdapters(const MtcProgram &program, const SavedModules &saved,
                             const AdapterModel &model) {
  nlohmann::json ranks = nlohmann::json::object(), alphas = ranks;
  const MtcAdapter &first = program.adapters[0], *end = program.adapters + program.adapter_count;
  const bool isStabilized = std::all_of(
      program.adapters, end, [](const MtcAdapter &each) { return each.is_rank_stabilized; });
  auto alphaOf = [&](const MtcAdapter &each) {
    return isStabilized || !each.is_rank_stabilized
               ? each.alpha
               : each.alpha * std::sqrt(static_cast<double>(rankOf(program, each)));
  };
  bool isInputMajor = false;
  for (uint32_t i = 0; i < program.adapter_count; ++i) {
    const MtcAdapter &adapter = program.adapters[i];
    const std::string module = moduleOf(program, adapter);
    if (rankOf(program, adapter) != rankOf(program, first))
      ranks[module] = rankOf(program, adapter);
    if (alphaOf(adapter) != alphaOf(first))
      alphas[module] = number(alphaOf(adapter));
    isInputMajor |= *inputAxisInModule(program, adapter) == 0;
  }
  nlohmann::json whole = nullptr;
  if (!saved.paths.empty())
    whole = saved.paths;
  const nlohmann::json config = {{"peft_type", "LORA"},
                                 {"base_model_name_or_path", textOrNull(model.base)},
                                 {"task_type", textOrNull(model.task)},
                                 {"inference_mode", true},
                                 {"r", rankOf(program, first)},
                                 {"lora_alpha", number(alphaOf(first))},
                                 {"lora_dropout", first.dropout},
                                 {"use_rslora", isStabilized},
                                 {"use_dora", first.magnitude >= 0},
                                 {"bias", "none"},
                                 {"fan_in_fan_out", isInputMajor},
                                 {"target_modules", adaptedModules(program)},
                                 {"modules_to_save", whole},
                                 {"rank_pattern", ranks},
                                 {"alpha_pattern", alphas}};
  return config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace

std::string adapterProblem(const MtcProgram &program) {
  for (uint32_t i = 1; i < program.adapter_count; ++i)
    if ((program.adapters[i].magnitude >= 0) != (program.adapters[0].magnitude >= 0))
      return "some adapters have a magnitude (dora) and others do not, which PEFT's format cannot "
             "express; write the merged model with --export or --export-weights";
  std::string names;
  for (uint32_t i = 0; i < program.adapter_count; ++i)
    if (!inputAxisInModule(program, program.adapters[i]))
      names += text(names.empty() ? "'" : ", '",
                    program.variables[program.adapters[i].base].tensor.name, "'");
  if (names.empty())
    return findSavedModules(program, adaptedModules(program)).problem;
  return text("which module of the user's model has the matrix ", names,
              " of the ONNX file, and how, "
              "is not known, so that PEFT would drop its adapter; adapt others alone (compile with "
              "--lora PATTERN), or write the merged model with --export or --export-weights");
}

void exportAdapters(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                    const AdapterModel &model, const std::string &folder) {
  std::vector<ModuleTensor> tensors;
  for (uint32_t i = 0; i < program.adapter_count; ++i)
    for (int32_t index :
         {program.adapters[i].down, program.adapters[i].up, program.adapters[i].magnitude}) {
      if (index < 0)
        continue;
      const MtcTensor tensor = tensorOf(program, index);
      tensors.push_back(
          {tensor.name, tensor.type, shapeOf(tensor), {{static_cast<uint32_t>(index), nullptr}}});
    }
  const SavedModules saved = findSavedModules(program, adaptedModules(program));
  tensors.insert(tensors.end(), saved.tensors.begin(), saved.tensors.end());
  std::vector<SafetensorsEntry> entries;
  entries.reserve(tensors.size());
  for (const ModuleTensor &tensor : tensors)
    entries.push_back({"base_model.model." + tensor.name, tensor.type, tensor.dims});
  const MadeFolder made(folder);
  SafetensorsWriter weights(folder + "/" + adapterWeightsName, entries, {{"format", "pt"}});
  auto read = [&](uint32_t variable, const Device::Use &use) {
    if (!finite.read(program, device, variable, use))
      stopDiverged(text("after the last step, '", program.variables[variable].tensor.name,
                        "' holds values that are not finite"),
                   folder + " was not written");
  };
  for (size_t i = 0; i < tensors.size(); ++i)
    writePieces(
        program, tensors[i].pieces, tensors[i].type, read,
        [&](int64_t at, const char *from, int64_t bytes) { weights.write(i, at, from, bytes); });
  weights.commit();
  DurableFile config(folder + "/" + adapterConfigName);
  config.append(describeAdapters(program, saved, model));
  config.commit();
}

} // namespace mtc::runtime
