// Detection of diverged training: variables that are not finite.
#ifndef MTC_RUNTIME_STATE_DIVERGENCE_H
#define MTC_RUNTIME_STATE_DIVERGENCE_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns whether no element of the array is NaN or infinite. Integers are always finite.
bool isFinite(uint32_t type, const char *elements, int64_t bytes);

/// The saved variables that were finite when training began. A variable of this set that is no
/// longer finite indicates divergence even if every loss was finite. Variables that contained -inf
/// from the start, such as masks, are excluded.
class FiniteVariables {
public:
  /// The empty set: any value may be saved.
  FiniteVariables() = default;
  /// Reads the program's parameters and state. If ranks have parts of the variables, all ranks must
  /// call it.
  FiniteVariables(const MtcProgram &program, Device &device);

  /// Returns whether the variable is in the set.
  bool includes(uint32_t index) const { return !variables.empty() && variables[index]; }

  /// Reads the value of variable `index` as Device::read does. Returns false if the variable is in
  /// the set and its value is not finite.
  bool read(const MtcProgram &program, Device &device, uint32_t index,
            const Device::Use &use) const;

private:
  std::vector<bool> variables; ///< by index; empty for the empty set
};

/// Ends a diverged run. `found` describes the value that is not finite, `kept` the saved state that
/// remains, and `cause` the cause and its remedy if they are known.
[[noreturn]] void stopDiverged(const std::string &found, const std::string &kept,
                               const std::string &cause = "");

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_DIVERGENCE_H
