// 16-bit floats in memory. Arithmetic is in f32; conversions round to nearest, ties to even, and
// preserve NaN.
#ifndef MTC_RUNTIME_DEVICES_CPU_VECTOR_NARROW_FLOATS_H
#define MTC_RUNTIME_DEVICES_CPU_VECTOR_NARROW_FLOATS_H

#include "runtime/abi/element_types.h"

#include <bit>
#include <cstdint>

namespace mtc::runtime {

struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};

/// Calls `use` with an element of the narrow type.
template <typename Use> auto withNarrowFloat(uint32_t type, const Use &use) {
  return type == MTC_BF16 ? use(BFloat16()) : use(Float16());
}

inline float widen(float value) { return value; }
inline double widen(double value) { return value; }
inline float widen(BFloat16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

inline void narrow(float value, float &to) { to = value; }
inline void narrow(double value, double &to) { to = value; }
inline void narrow(float value, BFloat16 &to) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = value == value ? bits + 0x7fff + (bits >> 16 & 1) : bits | 0x400000;
  to.bits = static_cast<uint16_t>(rounded >> 16);
}

/// Converts f16 with integer operations, for processors without f16 instructions. Reinterpreting
/// the bits as f32 yields a value that is too small by the difference of the exponent biases; the
/// multiplication that corrects it is exact, also for subnormal numbers.
inline float widenByIntegers(Float16 value) {
  const uint32_t magnitude = value.bits & 0x7fff, sign = uint32_t{value.bits} >> 15 << 31;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t bits = std::bit_cast<uint32_t>(scaled) | (magnitude >= 0x7c00 ? 0x7f800000 : 0);
  return std::bit_cast<float>(bits | sign);
}

/// Converts to f16 with integer operations. Subnormal results are rounded by an addition that
/// aligns their mantissa.
inline void narrowByIntegers(float value, Float16 &to) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits & 0x80000000, magnitude = bits ^ sign;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  constexpr float aligner = 0.5f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + aligner) -
                             std::bit_cast<uint32_t>(aligner);
  constexpr uint32_t minNormal = 113u << 23, minTooLarge = 0x477ff000 /* 65520 */;
  uint32_t result = magnitude < minNormal ? subnormal : normal;
  result = magnitude >= minTooLarge ? 0x7c00 : result;
  result = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : result;
  to.bits = static_cast<uint16_t>(result | sign >> 16);
}

/// Converts f16 with processor instructions, which the calling function must be allowed to use.
inline float widenByInstruction(Float16 value) {
  return static_cast<float>(std::bit_cast<_Float16>(value.bits));
}
inline void narrowByInstruction(float value, Float16 &to) {
  to.bits = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_VECTOR_NARROW_FLOATS_H
