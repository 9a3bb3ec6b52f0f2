// Dispatch on float types that are known only at run time, for code that runs on any processor.
#ifndef MTC_RUNTIME_SUPPORT_FLOATS_H
#define MTC_RUNTIME_SUPPORT_FLOATS_H

#include "runtime/abi/element_types.h"

#include <bit>
#include <cassert>
#include <cstdint>

namespace mtc::runtime {

/// Rounds to nearest, ties to even; preserves NaN. Elements of bf16 are the upper halves of f32 bit
/// patterns.
inline uint16_t toBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = value == value ? bits + 0x7fff + (bits >> 16 & 1) : bits | 0x400000;
  return static_cast<uint16_t>(rounded >> 16);
}

inline float fromBf16(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

/// A float type of the language: how elements are stored, and their conversion from and to the
/// type that is computed with.
template <typename Element, typename Computed> struct NativeFloat {
  using Stored = Element;
  static Computed widen(Stored value) { return static_cast<Computed>(value); }
  /// Rounds to nearest, ties to even.
  template <typename Value> static Stored round(Value value) { return static_cast<Stored>(value); }
};

struct Bf16 {
  using Stored = uint16_t;
  static float widen(Stored value) { return fromBf16(value); }
  template <typename Value> static Stored round(Value value) {
    return toBf16(static_cast<float>(value));
  }
};

/// Calls `action` with the float type, which has `Stored`, `widen` and `round` as Bf16 does. Types
/// that need a scale are excluded.
template <typename Action> decltype(auto) withFloat(uint32_t type, const Action &action) {
  switch (type) {
  case MTC_F64:
    return action(NativeFloat<double, double>());
  case MTC_F32:
    return action(NativeFloat<float, float>());
  case MTC_BF16:
    return action(Bf16());
  default:
    assert(type == MTC_F16 && "not a float type that is computed with");
    return action(NativeFloat<_Float16, float>());
  }
}

/// Computes to[i] = from[i] for `count` elements of a narrow type (see mtc_is_narrow_float).
void widenFloats(uint32_t type, const char *from, int64_t count, float *to);
/// Converts f32 to a narrow type, rounding to nearest, ties to even.
void narrowFloats(uint32_t type, const float *from, int64_t count, char *to);
/// Converts elements between different types that are f32 or narrow.
void convertFloats(uint32_t from, const char *elements, int64_t count, uint32_t to, char *result);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_FLOATS_H
