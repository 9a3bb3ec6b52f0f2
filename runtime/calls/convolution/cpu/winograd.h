// Winograd convolutions with 3x3 windows: A. Lavin and S. Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2015.
//
// A tile Y of 4x4 results depends on 6x6 elements D of the source and a filter F:
//
//   Y = A^T ((G F G^T) * (B^T D B)) A
//
// where * multiplies elementwise. The transforms evaluate and interpolate polynomials at the points
// 0, 3/4, -3/4, 3/2, -3/2 and infinity of each axis. Sums over channels are computed before the
// transform by A. Each of the 36 pairs of points therefore has a contraction over channels, and all
// of them need a quarter of the multiplications. The adjoints apply the transposed matrices.
//
// Rounding: an error of a result is at most 1e-6 times the maximum of the sums of absolute products
// |source| |filter| over all results in the tests, and 5e-7 where measured, while the errors of a
// plain sum in f32 are up to 2e-7. With the points 0, 1, -1, 2 and -2, they are three times as
// large.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_WINOGRAD_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_WINOGRAD_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <memory>

namespace mtc::runtime {

/// Returns null for empty tensors and unless `mtc_has_winograd`. The result is bit-identical for
/// any number of threads.
std::unique_ptr<LibraryCall> createWinogradConvolution(const MtcConvolution &convolution,
                                                       Computed computed, int threads,
                                                       VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_WINOGRAD_H
