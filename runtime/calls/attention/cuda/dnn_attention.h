// Attention calls that cuDNN executes. Each is planned once and enqueued in every step.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_H
#define MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cuda/call.h"
#include "runtime/devices/cuda/dnn_execution.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

extern const CallKind attentionCalls, attentionGradientCalls;

class DnnAttention : public gpu::PreparedCall {
public:
  /// Returns null if the library cannot compute the call with `scratchBytes` of scratch, on this
  /// device or at these addresses. `buffers` are the call's operands, then its results.
  static std::unique_ptr<DnnAttention> create(const Dnn &dnn, const MtcAttention &attention,
                                              bool isGradient,
                                              const std::vector<gpu::Address> &buffers,
                                              gpu::Address scratch, int64_t scratchBytes);

  /// Throws a system error if the library fails to run the call.
  void enqueue(gpu::Stream stream) const override;
  std::string implementation() const override;

private:
  explicit DnnAttention(const MtcAttention &attention);
  DnnTensors tensors(const MtcAttention &attention, bool isGradient,
                     const std::vector<gpu::Address> &buffers, gpu::Address scratch) const;

  struct Scalars {
    float scale, one, noScore;
    int32_t diagonal;
  };

  Scalars scalars; ///< passed by address, read at each execution
  std::optional<DnnExecution> execution;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_H
