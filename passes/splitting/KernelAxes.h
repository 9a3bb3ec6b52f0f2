//===- KernelAxes.h - Dimensions of a kernel along which values can be divided ----------------===//

#ifndef MTC_PASSES_SPLITTING_KERNELAXES_H
#define MTC_PASSES_SPLITTING_KERNELAXES_H

#include "ir/Mtc.h"

namespace mtc {

/// The dimension of an operation's kernel that each axis of its operands and results is. A
/// dimension can be divided if each rank can compute its iterations from its parts of the operands
/// alone: every axis is exactly the dimension, or does not depend on it.
struct KernelAxes {
  /// For each operand and result, the divisible dimension of each axis, or none.
  llvm::SmallVector<llvm::SmallVector<std::optional<unsigned>>> operands, results;
  /// The dimensions over which the results are reduced.
  llvm::SmallVector<int64_t> reduced;
  ReductionKind kind = ReductionKind::Add;

  /// Returns those of an operation that one kernel computes; nothing for others.
  static std::optional<KernelAxes> find(mlir::Operation *op);
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_KERNELAXES_H
