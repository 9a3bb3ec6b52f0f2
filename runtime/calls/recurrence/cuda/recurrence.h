// Recurrent layers and their gradients on a GPU: in each step, cuBLASLt multiplies with the weights
// and a kernel of the program computes the cell.
#ifndef MTC_RUNTIME_CALLS_RECURRENCE_CUDA_RECURRENCE_H
#define MTC_RUNTIME_CALLS_RECURRENCE_CUDA_RECURRENCE_H

#include "runtime/abi/cuda_recurrence.h"
#include "runtime/calls/contraction/cuda/matmul.h"
#include "runtime/calls/recurrence/cuda/recurrence_plan.h"
#include "runtime/devices/cuda/call.h"

#include <deque>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

extern const CallKind recurrenceCalls, recurrenceGradientCalls;

/// The base of both passes. The multiplications are in f32 or f64 at every precision.
class RecurrentLayer : public gpu::PreparedCall {
public:
  std::string implementation() const override;

protected:
  /// Loads the kernels, and selects the algorithms of the multiplications of `weights`. The results
  /// of those of the state's gradient are at `dState`.
  RecurrentLayer(const CallContext &context, const MtcCall &call, bool isGradient,
                 gpu::Address weights, gpu::Address dState);

  /// Returns the index of the n-th step.
  int64_t index(int64_t n) const { return p.is_reversed ? p.steps - 1 - n : n; }
  /// Return the address of the n-th step in a tensor [steps, batch, hidden] or [steps, batch, gates
  /// * hidden]; 0 for an absent tensor.
  gpu::Address stepOf(gpu::Address all, int64_t n) const;
  gpu::Address gatesOfStep(gpu::Address all, int64_t n) const;
  /// Returns the address of the values before the n-th step.
  gpu::Address before(gpu::Address all, gpu::Address initial, int64_t n) const {
    return n > 0 ? stepOf(all, n - 1) : initial;
  }
  int64_t stateBytes() const;
  /// Enqueues launch `number` with an MtcCudaCell or MtcCudaCellGradient.
  template <typename Parameters>
  void launch(size_t number, Parameters parameters, gpu::Stream stream) const {
    enqueueKernel(number, &parameters, sizeof parameters, stream);
  }

  const gpu::Driver &driver;
  const MtcRecurrence p;
  gpu::Address lines, productsOut; ///< in the scratch
  std::deque<Matmul> products;     ///< one for each launch
  std::vector<gpu::Function> kernels;
  const MtcGpuKernel &code;

private:
  void enqueueKernel(size_t number, void *parameters, size_t bytes, gpu::Stream stream) const;
};

class RecurrentForward final : public RecurrentLayer {
public:
  RecurrentForward(const CallContext &context, const MtcCall &call);
  void enqueue(gpu::Stream stream) const override;

private:
  struct Buffers {
    Buffers(const MtcRecurrence &p, const std::vector<gpu::Address> &buffers);
    gpu::Address gates, weights, state, cell, bias, activations, states, auxiliary;
  };
  RecurrentForward(const CallContext &context, const MtcCall &call, const Buffers &buffers);

  Buffers b;
};

class RecurrentGradient final : public RecurrentLayer {
public:
  RecurrentGradient(const CallContext &context, const MtcCall &call);
  void enqueue(gpu::Stream stream) const override;

private:
  struct Buffers {
    Buffers(const MtcRecurrence &p, const std::vector<gpu::Address> &buffers);
    gpu::Address activations, weights, states, auxiliary, state, cell, dStates, dAuxiliary, dGates,
        dState, dCell, dCandidate;
  };
  RecurrentGradient(const CallContext &context, const MtcCall &call, const Buffers &buffers);

  Buffers b;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_RECURRENCE_CUDA_RECURRENCE_H
