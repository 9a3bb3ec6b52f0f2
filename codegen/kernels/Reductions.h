//===- Reductions.h - The reductions of a kernel that are computed together -------------------===//

#ifndef MTC_CODEGEN_KERNELS_REDUCTIONS_H
#define MTC_CODEGEN_KERNELS_REDUCTIONS_H

#include "codegen/kernels/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

using Accumulators = llvm::SmallVector<mlir::Value>;

/// The reductions of one level: their operands need only reductions of lower levels.
struct Reductions {
  Reductions(const NormalKernel &kernel, unsigned level);

  /// Combines accumulators, scalars or vectors, one for each reduction.
  Accumulators combine(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange lhs,
                       mlir::ValueRange rhs) const;

  unsigned level;
  llvm::SmallVector<KernelReduceOp> ops;
  llvm::SmallVector<mlir::Value> operands;
  /// Whether one of them is a sum of floats, whose rounding errors depend on its order.
  bool roundsSums = false;
};

/// The neutral element of a reduction.
mlir::TypedAttr neutralElement(KernelReduceOp reduce);
mlir::Value combine(mlir::ImplicitLocOpBuilder &b, KernelReduceOp reduce, mlir::Value lhs,
                    mlir::Value rhs);
/// Combines the lanes of a vector, a power of two of them, in halves: an order that follows from
/// their number alone.
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b, KernelReduceOp reduce, mlir::Value lanes);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_REDUCTIONS_H
