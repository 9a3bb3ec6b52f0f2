// Arrays of 16-bit floats as f32, and back.
#ifndef MTC_RUNTIME_DEVICES_CPU_CONVERT_H
#define MTC_RUNTIME_DEVICES_CPU_CONVERT_H

#include <cstdint>

namespace mtc::runtime {

/// to[i] = from[i], of MTC_BF16 or MTC_F16, for `count` elements, on `threads` threads.
void widenArray(uint32_t type, const char *from, int64_t count, float *to, int threads);
/// The other way, rounded to nearest, ties to even.
void narrowArray(uint32_t type, const float *from, int64_t count, char *to, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_CONVERT_H
