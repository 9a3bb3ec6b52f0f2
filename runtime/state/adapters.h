// Low-rank adapters of frozen weights, which a program trains that was compiled with --lora.
#ifndef MTC_RUNTIME_STATE_ADAPTERS_H
#define MTC_RUNTIME_STATE_ADAPTERS_H

#include "runtime/state/divergence.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Adds to weights what their adapters have learned.
class AdapterMerger {
public:
  /// Reads the adapters' factors. A fault of the system if one of `finite` is not.
  AdapterMerger(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                const std::string &path);

  /// Adds to the elements of a variable from byte `at` on, which starts one, if it is adapted.
  void merge(uint32_t variable, int64_t at, char *elements, int64_t bytes) const;

private:
  struct Factors {
    int64_t in, out, rank;
    uint32_t type;     ///< the base's
    bool isInputMajor; ///< the base is [in, out]
    double scale;
    std::vector<double> down, up;
  };

  std::map<uint32_t, Factors> adapters; ///< by the base's index
};

/// Why PEFT could not load the program's adapters: of a matrix whose module is not known, or has it
/// in another form. "" if it can.
std::string adapterProblem(const MtcProgram &program);

inline constexpr const char *adapterWeightsName = "adapter_model.safetensors";
inline constexpr const char *adapterConfigName = "adapter_config.json";

/// Writes files of these names into a folder, which is made if it
/// is missing, as PEFT reads them. Durable. A fault of the system if one of `finite` is not.
void exportAdapters(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                    const std::string &folder);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_ADAPTERS_H
