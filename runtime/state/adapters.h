// Low-rank adapters (LoRA) of frozen weights, in a program compiled with --lora.
#ifndef MTC_RUNTIME_STATE_ADAPTERS_H
#define MTC_RUNTIME_STATE_ADAPTERS_H

#include "runtime/state/divergence.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Merges adapters into their base weights.
class AdapterMerger {
public:
  /// Reads the factors of the adapters. Throws a system error if a variable of `finite` is not
  /// finite.
  AdapterMerger(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                const std::string &path);

  /// Adds the adapter's update to the elements of a variable from byte `at` on, the start of an
  /// element, and rescales the sums if the adapter has a magnitude. No effect if the variable has
  /// no adapter.
  void merge(uint32_t variable, int64_t at, char *elements, int64_t bytes) const;

private:
  struct Factors {
    int64_t in, out, rank;
    uint32_t type;     ///< type of the base
    bool isInputMajor; ///< the base is [in, out]
    double scale;
    std::vector<double> down, up;
    std::vector<double> ratios; ///< factors of the rows of [out, in]; empty without a magnitude

    /// Returns the index along `out` of an element of the base, in row-major order.
    int64_t outputOf(int64_t element) const;
    /// Returns the update of an element of the base.
    double changeOf(int64_t element) const;
  };

  std::map<uint32_t, Factors> adapters; ///< keyed by the index of the base
};

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
