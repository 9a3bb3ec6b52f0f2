// Conversions of single bf16 elements, which are the upper halves of f32 bit patterns.
#ifndef MTC_RUNTIME_SUPPORT_BFLOAT16_H
#define MTC_RUNTIME_SUPPORT_BFLOAT16_H

#include <bit>
#include <cstdint>

namespace mtc::runtime {

/// Rounds to nearest, ties to even; preserves NaN.
inline uint16_t toBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = value == value ? bits + 0x7fff + (bits >> 16 & 1) : bits | 0x400000;
  return static_cast<uint16_t>(rounded >> 16);
}

inline float fromBf16(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_BFLOAT16_H
