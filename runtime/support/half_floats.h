// Conversions of bf16 and f16 arrays to and from f32, on any processor.
#ifndef MTC_RUNTIME_SUPPORT_HALF_FLOATS_H
#define MTC_RUNTIME_SUPPORT_HALF_FLOATS_H

#include <cstdint>

namespace mtc::runtime {

/// Computes to[i] = from[i] for `count` elements of type MTC_BF16 or MTC_F16.
void widenFloats(uint32_t type, const char *from, int64_t count, float *to);
/// Converts f32 to MTC_BF16 or MTC_F16, rounding to nearest, ties to even.
void narrowFloats(uint32_t type, const float *from, int64_t count, char *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_HALF_FLOATS_H
