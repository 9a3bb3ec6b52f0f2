// Conversions in plain loops, which compilers vectorize.
#include "runtime/support/floats.h"

#include <vector>

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

void convertFloats(uint32_t from, const char *elements, int64_t count, uint32_t to, char *result) {
  if (to == MTC_F32)
    return widenFloats(from, elements, count, reinterpret_cast<float *>(result));
  if (from == MTC_F32)
    return narrowFloats(to, reinterpret_cast<const float *>(elements), count, result);
  std::vector<float> wide(static_cast<size_t>(count));
  widenFloats(from, elements, count, wide.data());
  narrowFloats(to, wide.data(), count, result);
}

} // namespace mtc::runtime
