// Conversions in plain loops, which compilers vectorize.
#include "runtime/support/floats.h"

namespace mtc::runtime {

void widenFloats(uint32_t type, const char *from, int64_t count, float *to) {
  assert(mtc_is_narrow_float(type));
  withFloat(type, [&](auto format) {
    const auto *source = reinterpret_cast<const typename decltype(format)::Stored *>(from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(format.widen(source[i]));
  });
}

void narrowFloats(uint32_t type, const float *from, int64_t count, char *to) {
  assert(mtc_is_narrow_float(type));
  withFloat(type, [&](auto format) {
    auto *destination = reinterpret_cast<typename decltype(format)::Stored *>(to);
    for (int64_t i = 0; i < count; ++i)
      destination[i] = format.round(from[i]);
  });
}

} // namespace mtc::runtime
