// Which convolutions cuDNN computes, and what memory they need.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_PLAN_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_PLAN_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cuda/call_planner.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime::cuda {

/// Bytes of scratch to plan for cuDNN's workspace; nothing if it is not to compute the call:
///
/// - Elements are of f32 or of 16 bits, the latter not in the weight gradient of volumes, for which
///   the library has no kernels on every GPU.
/// - Every window that fits into the padded input has a position in the output.
/// - What it adds is a bias, or an addend and a bias, which an activation may follow: the forms of
///   an epilogue for which it has kernels for every convolution and precision.
///
/// Planned is what its fastest kernels were seen to ask for (9.19, from compute capability 8.0 on):
/// a copy of each tensor, with each group's channels padded to a multiple of 16 bytes, in a layout
/// of their own; and for a weight gradient up to 64 partial sums, as far as they are no larger than
/// input and output together and no more than 32 MiB. There is a kernel for each call in f32 that
/// needs none of it.
std::optional<int64_t> planDnnConvolution(const MtcConvolution &convolution, Computed computed);

/// 0 as well for ReLU in f32 that is not rounded: what the library makes of a NaN is not said.
extern const CallPlanner convolutionPlanner, transposedConvolutionPlanner,
    convolutionWeightGradientPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_PLAN_H
