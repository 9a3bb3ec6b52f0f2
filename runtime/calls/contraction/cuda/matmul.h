// Contraction calls that cuBLASLt executes. Each is planned once and enqueued in every step.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_H

#include "runtime/calls/contraction/cuda/matmul_plan.h"
#include "runtime/devices/cuda/call.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

extern const CallKind contractionCalls;

class Matmul : public gpu::PreparedCall {
public:
  /// Selects the library's best algorithm for the plan over `buffers`, the buffers of the
  /// contraction, with a workspace in the `scratchBytes` at `scratch`. f32 operands may be rounded
  /// to `precision`. Throws a system error if the library has no algorithm.
  Matmul(const Blas &blas, const MatmulPlan &plan, std::vector<gpu::Address> buffers,
         gpu::Address scratch, int64_t scratchBytes, MtcCudaPrecision precision);

  void enqueue(gpu::Stream stream) const override;
  std::string implementation() const override;

private:
  template <typename Handle>
  using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, int (*)(Handle)>;

  Owned<MatrixLayoutHandle> layout(const MatrixView &matrix) const;
  uint32_t typeOf(uint32_t buffer) const;
  void describe(MtcCudaPrecision precision);
  void choose();
  gpu::Address address(uint32_t buffer, int64_t call = 0) const;

  const Blas &blas;
  MatmulPlan plan;
  std::vector<gpu::Address> buffers;
  gpu::Address workspace;
  int64_t workspaceBytes;
  Owned<MatrixLayoutHandle> a, b, c, d;
  Owned<MatmulDescription> description{nullptr, nullptr};
  MatmulAlgorithm algorithm = {};
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_H
