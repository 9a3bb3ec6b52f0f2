// An element is not finite if all bits of its exponent are ones.
#include "runtime/state/divergence.h"

#include "runtime/collectives/ranks.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/variables.h"
#include "runtime/support/failure.h"

namespace mtc::runtime {

/// Returns whether no element has all bits of `exponent` set, as NaN and infinity have.
template <typename Word> static bool noneHas(Word exponent, const char *elements, int64_t bytes) {
  auto *words = reinterpret_cast<const Word *>(elements);
  const auto count = static_cast<size_t>(bytes) / sizeof(Word);
  bool found = false; // No early exit, so that the loop can be vectorized.
  for (size_t i = 0; i < count; ++i)
    found |= (words[i] & exponent) == exponent;
  return !found;
}

bool isFinite(uint32_t type, const char *elements, int64_t bytes) {
  switch (type) {
  case MTC_F64:
    return noneHas<uint64_t>(uint64_t{0x7ff} << 52, elements, bytes);
  case MTC_F32:
    return noneHas<uint32_t>(0x7f800000, elements, bytes);
  case MTC_BF16:
    return noneHas<uint16_t>(0x7f80, elements, bytes);
  case MTC_F16:
    return noneHas<uint16_t>(0x7c00, elements, bytes);
  case MTC_F8E4M3: // no infinities, and one NaN of each sign
    return noneHas<uint8_t>(0x7f, elements, bytes);
  case MTC_F8E5M2:
    return noneHas<uint8_t>(0x7c, elements, bytes);
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
  return variable.isDivided() && device.ranks() ? device.ranks()->maximum(!finite) == 0 : finite;
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
