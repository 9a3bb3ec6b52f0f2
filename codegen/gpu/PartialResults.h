//===- PartialResults.h - Partial reduction results of split rows -----------------------------===//

#ifndef MTC_CODEGEN_GPU_PARTIALRESULTS_H
#define MTC_CODEGEN_GPU_PARTIALRESULTS_H

#include "codegen/gpu/LaunchPlan.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::gpu {

/// Partial results in scratch memory, for blocks that share a row: for each reduction an array
/// [splits, rows] of values, or of vectors if rows are vectorized.
class PartialResults {
public:
  PartialResults(const NormalKernel &kernel, const ReductionPlan &plan,
                 mlir::ImplicitLocOpBuilder &b, mlir::Value scratch)
      : kernel(kernel), plan(plan), b(b), scratch(scratch) {}

  static int64_t bytes(const NormalKernel &kernel, const ReductionPlan &plan);

  /// Returns the type of a reduction's accumulator.
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

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_PARTIALRESULTS_H
