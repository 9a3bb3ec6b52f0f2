// Support and workspace queries for convolutions computed by cuDNN.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_PLAN_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_PLAN_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cuda/call_planner.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime::cuda {

/// Returns the scratch size in bytes to plan for cuDNN's workspace, or nullopt if cuDNN is not to
/// be used for the call. The requirements are:
///
/// - Elements are f32 or 16-bit. The weight gradient of 3-D convolutions must be f32, because the
///   library lacks 16-bit kernels for it on some GPUs.
/// - Every window that fits into the padded input has a position in the output.
/// - The epilogue is a bias, or an addend and a bias, optionally followed by an activation. Only
///   these forms have kernels for every convolution and precision.
///
/// The size covers the workspace that the fastest kernels were observed to request (9.19, from
/// compute capability 8.0 on): a copy of each tensor in a kernel-specific layout, with the channels
/// of each group padded to a multiple of 16 bytes; and for a weight gradient up to 64 partial sums,
/// as long as they are at most as large as input and output together and at most 32 MiB. Every f32
/// call has a kernel without a workspace.
std::optional<int64_t> planDnnConvolution(const MtcConvolution &convolution, Computed computed);

/// The support level is also 0 for ReLU in f32 without rounding, because cuDNN does not document
/// the result for NaN.
extern const CallPlanner convolutionPlanner, transposedConvolutionPlanner,
    convolutionWeightGradientPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_PLAN_H
