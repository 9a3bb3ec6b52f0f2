//===- PartialResults.h - What blocks that share a row leave in scratch -----------------------===//

#ifndef MTC_CODEGEN_CUDA_PARTIALRESULTS_H
#define MTC_CODEGEN_CUDA_PARTIALRESULTS_H

#include "codegen/cuda/LaunchPlan.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cuda {

/// For each reduction an array [splits, rows] of its values (vectors, where rows come in vectors).
class PartialResults {
public:
  PartialResults(const NormalKernel &kernel, const ReductionPlan &plan,
                 mlir::ImplicitLocOpBuilder &b, mlir::Value scratch)
      : kernel(kernel), plan(plan), b(b), scratch(scratch) {}

  static int64_t bytes(const NormalKernel &kernel, const ReductionPlan &plan);

  /// What a team combines of a reduction.
  mlir::Type type(KernelReduceOp reduce) const;
  mlir::Value read(KernelReduceOp reduce, mlir::Value split, mlir::Value row);
  void write(KernelReduceOp reduce, mlir::Value split, mlir::Value row, mlir::Value value);

private:
  mlir::Value address(KernelReduceOp reduce, mlir::Value split, mlir::Value row);

  const NormalKernel &kernel;
  const ReductionPlan &plan;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value scratch;
};

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_PARTIALRESULTS_H
