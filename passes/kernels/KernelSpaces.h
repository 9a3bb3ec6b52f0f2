//===- KernelSpaces.h - One iteration space for two kernels -----------------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELSPACES_H
#define MTC_PASSES_KERNELS_KERNELSPACES_H

#include "ir/Mtc.h"

namespace mtc {

/// A space that two kernels can both run over, and each kernel's dims as functions of its dims.
struct CommonSpace {
  llvm::SmallVector<int64_t> space, reduced;
  std::optional<int64_t> points; ///< As of `mtc.kernel`.
  llvm::SmallVector<mlir::AffineExpr> first, second;

  /// A kernel's map over its own dims, over the common ones.
  mlir::AffineMap rewrite(mlir::AffineMap map, mlir::ArrayRef<mlir::AffineExpr> dims) const;
};

/// The coarsest common refinement of two kernels' spaces: dims are split where the other kernel has
/// a boundary, and those of extent 1 vanish. Where one kernel has a point for each of the other's
/// rows, it is computed once for each row: the space is the other's, its trailing dims reduced.
/// Where some points of a space do not exist, it is the space: the other kernel has the same, or a
/// line of the points that exist. Nothing if there is no such space, or if the kernels reduce over
/// different dims.
std::optional<CommonSpace> findCommonSpace(KernelOp first, KernelOp second);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELSPACES_H
