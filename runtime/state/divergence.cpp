#include "runtime/state/divergence.h"

#include "runtime/collectives/ranks.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/variables.h"
#include "runtime/support/failure.h"

namespace mtc::runtime {

/// Returns whether no element has all bits of `exponent` set.
template <typename Word> static bool noneHas(uint64_t bits, const char *elements, int64_t bytes) {
  const auto exponent = static_cast<Word>(bits);
  auto *words = reinterpret_cast<const Word *>(elements);
  const auto count = static_cast<size_t>(bytes) / sizeof(Word);
  bool found = false; // No early exit, so that the loop can be vectorized.
  for (size_t i = 0; i < count; ++i)
    found |= (words[i] & exponent) == exponent;
  return !found;
}

bool isFinite(uint32_t type, const char *elements, int64_t bytes) {
  // Infinity, and NaN in types with infinity, have all bits of the exponent set. A type without
  // infinity has one NaN of each sign.
  const MtcFloatFormat format = mtc_float_format(type);
  const uint64_t set = format.infinity ? format.infinity : format.nan;
  switch (format.bits) {
  case 64:
    return noneHas<uint64_t>(set, elements, bytes);
  case 32:
    return noneHas<uint32_t>(set, elements, bytes);
  case 16:
    return noneHas<uint16_t>(set, elements, bytes);
  case 8:
    return noneHas<uint8_t>(set, elements, bytes);
  default:
    return true;
  }
}

/// Returns whether all elements of a value, on all ranks, are finite.
static bool isFinite(Device &device, const StoredVariable &variable) {
  bool finite = true;
  variable.readOwn(device, [&](const char *from, int64_t, int64_t bytes) {
    finite = finite && isFinite(variable.type(), from, bytes);
  });
  return variable.isPartial() && device.ranks() ? device.ranks()->maximum(!finite) == 0 : finite;
}

FiniteVariables::FiniteVariables(const MtcProgram &program, Device &device) {
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    // Optimizer state starts at zero.
    variables.push_back(isSaved(variable) && (variable.role == MTC_OPTIMIZER ||
                                              isFinite(device, StoredVariable(program, i))));
  }
}

bool FiniteVariables::read(const MtcProgram &program, Device &device, uint32_t index,
                           const Device::Use &use) const {
  const StoredVariable variable(program, index);
  const bool checked = includes(index);
  bool finite = true;
  variable.read(device, [&](const char *from, int64_t at, int64_t bytes) {
    finite = finite && (!checked || isFinite(variable.type(), from, bytes));
    use(from, at, bytes);
  });
  return finite;
}

void stopDiverged(const std::string &found, const std::string &kept, const std::string &cause) {
  const std::string likely =
      "Likely causes are values in the data that are not finite, a batch whose labels are "
      "all ignored, or steps that are too large: give a lower --lr or --warmup, or compile with "
      "--clip-norm";
  systemError(found, ", so training was stopped; ", kept, ". ", cause.empty() ? likely : cause,
              ". --on-nan continue trains on all the same");
}

} // namespace mtc::runtime
