// Convolutions of a program, prepared once by cuDNN.
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

/// Notes of the kernels that are not to compute a call: those that do not give the same bits in
/// each run, or round more than the precision says.
uint32_t refusedNotes(const MtcConvolution &convolution, MtcCudaPrecision precision);

class DnnConvolution : public PreparedCall {
public:
  /// Null if the library does not compute this call in so much scratch, on this device or at these
  /// addresses. `buffers` are the call's operands, then its results.
  static std::unique_ptr<DnnConvolution> create(const Dnn &dnn, const MtcConvolution &convolution,
                                                Computed computed, MtcCudaPrecision precision,
                                                const std::vector<Address> &buffers,
                                                Address scratch, int64_t scratchBytes);

  void enqueue(Stream stream) const override { execution.enqueue(stream, "a convolution"); }
  std::string implementation() const override { return execution.implementation(); }

private:
  explicit DnnConvolution(DnnExecution execution) : execution(std::move(execution)) {}

  DnnExecution execution;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_H
