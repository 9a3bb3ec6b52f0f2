//===- Thread.h - Thread primitives for device code -------------------------------------------===//
//
// Device code is C++ compiled for NVPTX without CUDA's headers.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICE_THREAD_H
#define MTC_CODEGEN_CUDA_DEVICE_THREAD_H

#include <stdint.h>

extern "C" { // of libdevice
float __nv_expf(float);
float __nv_logf(float);
double __nv_exp(double);
double __nv_log(double);
float __nv_tanhf(float);
double __nv_tanh(double);
}

namespace mtc::cuda::device {

#define MTC_GLOBAL __attribute__((address_space(1)))
#define MTC_SHARED __attribute__((address_space(3)))
/// Unrolls loops over per-thread arrays, which are kept in registers only if all indices are
/// constants.
#define MTC_UNROLL _Pragma("clang loop unroll(full)")

inline int threadIndex() { return __nvvm_read_ptx_sreg_tid_x(); }
inline int blockIndex() { return __nvvm_read_ptx_sreg_ctaid_x(); }
inline void blockBarrier() { __nvvm_bar_sync(0); }
inline void warpBarrier() { __nvvm_bar_warp_sync(0xffffffff); }

inline float exponential(float x) { return __nv_expf(x); }
inline double exponential(double x) { return __nv_exp(x); }
inline float logarithm(float x) { return __nv_logf(x); }
inline double logarithm(double x) { return __nv_log(x); }
inline float hyperbolicTangent(float x) { return __nv_tanhf(x); }
inline double hyperbolicTangent(double x) { return __nv_tanh(x); }

inline int32_t exchange(int32_t bits, int distance) {
  return __nvvm_shfl_sync_bfly_i32(0xffffffff, bits, distance, 31);
}
/// Returns the value of the lane whose index differs in the bit `distance`.
inline float exchange(float x, int distance) {
  return __builtin_bit_cast(float, exchange(__builtin_bit_cast(int32_t, x), distance));
}
inline double exchange(double x, int distance) {
  struct Halves {
    int32_t low, high;
  } halves = __builtin_bit_cast(Halves, x);
  return __builtin_bit_cast(
      double, Halves{exchange(halves.low, distance), exchange(halves.high, distance)});
}

} // namespace mtc::cuda::device

#endif // MTC_CODEGEN_CUDA_DEVICE_THREAD_H
