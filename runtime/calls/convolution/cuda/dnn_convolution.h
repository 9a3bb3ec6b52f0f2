// Convolution calls that cuDNN executes. Each is planned once and enqueued in every step.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cuda/call.h"
#include "runtime/devices/cuda/dnn_execution.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime::cuda {

extern const CallKind convolutionCalls, transposedConvolutionCalls, convolutionWeightGradientCalls;

/// Returns the numerical notes of kernels that must not compute the call: nondeterministic kernels,
/// and kernels that round more than `precision` allows.
uint32_t refusedNotes(const MtcConvolution &convolution, MtcCudaPrecision precision);

class DnnConvolution : public gpu::PreparedCall {
public:
  /// Returns null if the library cannot compute the call with `scratchBytes` of scratch, on this
  /// device or at these addresses. `buffers` are the call's operands, then its results.
  static std::unique_ptr<DnnConvolution> create(const Dnn &dnn, const MtcConvolution &convolution,
                                                Computed computed, MtcCudaPrecision precision,
                                                const std::vector<gpu::Address> &buffers,
                                                gpu::Address scratch, int64_t scratchBytes);

  void enqueue(gpu::Stream stream) const override { execution.enqueue(stream, "a convolution"); }
  std::string implementation() const override { return execution.implementation(); }

private:
  explicit DnnConvolution(DnnExecution execution) : execution(std::move(execution)) {}

  DnnExecution execution;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_H
