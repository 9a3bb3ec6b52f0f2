// Low-rank adapters (LoRA) of frozen weights, in a program compiled with --lora.
#ifndef MTC_RUNTIME_STATE_ADAPTERS_H
#define MTC_RUNTIME_STATE_ADAPTERS_H

#include "runtime/state/divergence.h"

#include <string>

namespace mtc::runtime {

/// Returns why PEFT cannot load the program's adapters, or "" if it can. Possible reasons are a
/// base matrix whose module is unknown or stores it in another form, and a trained tensor that PEFT
/// cannot store in addition to the adapters.
std::string adapterProblem(const MtcProgram &program);

/// Fields of PEFT's configuration that a program does not know; "" is null.
struct AdapterModel {
  std::string base; ///< name or path of the base model
  std::string task; ///< a value of PEFT's TaskType
};

inline constexpr const char *adapterWeightsName = "adapter_model.safetensors";
inline constexpr const char *adapterConfigName = "adapter_config.json";

/// Writes `adapterWeightsName` and `adapterConfigName`, in PEFT's format, into a folder, which is
/// created if it is missing. Modules that are trained in addition to the adapters are stored whole
/// (modules_to_save). The files are durable. Throws a system error if a variable of `finite`
/// is not finite.
void exportAdapters(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                    const AdapterModel &model, const std::string &folder);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_ADAPTERS_H
