//===- Reductions.h - The reductions of one level of a kernel ---------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_REDUCTIONS_H
#define MTC_CODEGEN_KERNELS_REDUCTIONS_H

#include "codegen/kernels/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

using Accumulators = llvm::SmallVector<mlir::Value>;

/// The reductions of one level. Their operands depend on reductions of lower levels only.
struct Reductions {
  Reductions(const NormalKernel &kernel, unsigned level);

  /// Combines two sets of accumulators, scalars or vectors, with one accumulator per reduction.
  Accumulators combine(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange lhs,
                       mlir::ValueRange rhs) const;

  unsigned level;
  llvm::SmallVector<KernelReduceOp> ops;
  llvm::SmallVector<mlir::Value> operands;
  /// Whether any reduction is a sum of floats, whose rounding depends on the order of summation.
  bool roundsSums = false;
};

/// Returns the neutral element of a reduction.
mlir::TypedAttr neutralElement(KernelReduceOp reduce);
/// Combines two partial results of a reduction.
mlir::Value combine(mlir::ImplicitLocOpBuilder &b, KernelReduceOp reduce, mlir::Value lhs,
                    mlir::Value rhs);
/// Combines the lanes of a vector pairwise by halves. The number of lanes must be a power of two.
/// The order of combination depends on the number of lanes only.
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b, KernelReduceOp reduce, mlir::Value lanes);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_REDUCTIONS_H
