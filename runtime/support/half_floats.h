// Arrays of bf16 and f16 as f32, and back, on any processor.
#ifndef MTC_RUNTIME_SUPPORT_HALF_FLOATS_H
#define MTC_RUNTIME_SUPPORT_HALF_FLOATS_H

#include <cstdint>

namespace mtc::runtime {

/// to[i] = from[i], of MTC_BF16 or MTC_F16, for `count` elements.
void widenFloats(uint32_t type, const char *from, int64_t count, float *to);
/// The other way, rounded to nearest, ties to even.
void narrowFloats(uint32_t type, const float *from, int64_t count, char *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_HALF_FLOATS_H
