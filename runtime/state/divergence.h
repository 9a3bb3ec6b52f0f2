// What shows that training has diverged: values that are not finite.
#ifndef MTC_RUNTIME_STATE_DIVERGENCE_H
#define MTC_RUNTIME_STATE_DIVERGENCE_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Whether no element of the array is a NaN or infinite; integers are not.
bool isFinite(uint32_t type, const char *elements, int64_t bytes);

/// The saved variables that were finite when training began: one that no longer is shows that
/// training diverged, even if no loss has told so yet. A mask with -inf may stay as it is.
class FiniteVariables {
public:
  /// None: anything may be saved.
  FiniteVariables() = default;
  /// Reads the program's parameters and state.
  FiniteVariables(const MtcProgram &program, Device &device);

  /// Hands the value of variable `index` to `use`, as Device::read does. False if the value should
  /// be finite and is not.
  bool read(const MtcProgram &program, Device &device, uint32_t index,
            const Device::Use &use) const;

private:
  std::vector<bool> variables; ///< by index; empty: none
};

/// Ends training that diverged: `found` says what is not finite, `kept` what is left of it, and
/// `cause` what to do about it, where that is known.
[[noreturn]] void stopDiverged(const std::string &found, const std::string &kept,
                               const std::string &cause = "");

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_DIVERGENCE_H
