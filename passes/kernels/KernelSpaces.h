//===- KernelSpaces.h - Common iteration space of two kernels ---------------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELSPACES_H
#define MTC_PASSES_KERNELS_KERNELSPACES_H

#include "ir/Mtc.h"

namespace mtc {

/// An iteration space for two kernels, and each kernel's dims as functions of the common dims.
struct CommonSpace {
  llvm::SmallVector<int64_t> space, reduced;
  std::optional<int64_t> iterations; ///< As for `mtc.kernel`.
  llvm::SmallVector<mlir::AffineExpr> first, second;

  /// Rewrites a map over a kernel's own dims as a map over the common dims.
  mlir::AffineMap rewrite(mlir::AffineMap map, mlir::ArrayRef<mlir::AffineExpr> dims) const;
};

/// Returns the coarsest common refinement of two kernels' iteration spaces: dims are split at the
/// boundaries of the other kernel, and dims of size 1 are dropped. If one kernel has one iteration
/// per row of the other, the space is that of the other kernel with its trailing dims reduced. If
/// one space has a partial last row (`iterations`), it is the common space, and the other kernel
/// must have the same space or one flat dim of as many iterations. Returns nothing if there is no
/// such space, or if the kernels reduce over different dims.
std::optional<CommonSpace> findCommonSpace(KernelOp first, KernelOp second);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELSPACES_H
