// Parallel conversions of 16-bit float arrays to and from f32.
#ifndef MTC_RUNTIME_DEVICES_CPU_VECTOR_CONVERT_H
#define MTC_RUNTIME_DEVICES_CPU_VECTOR_CONVERT_H

#include <cstdint>

namespace mtc::runtime {

/// Computes to[i] = from[i] for `count` elements of a narrow type, on `threads` threads.
void widenArray(uint32_t type, const char *from, int64_t count, float *to, int threads);
/// Converts f32 to a narrow type, rounding to nearest, ties to even.
void narrowArray(uint32_t type, const float *from, int64_t count, char *to, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_VECTOR_CONVERT_H
