//===- JoinKernels.h - Fusion of two kernels into one -----------------------------------------===//

#ifndef MTC_PASSES_KERNELS_JOINKERNELS_H
#define MTC_PASSES_KERNELS_JOINKERNELS_H

#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSpaces.h"
#include "passes/kernels/UserIndex.h"

namespace mtc {

/// The plan for fusing two kernels of one block: `first` precedes `second`, which may read the
/// results of `first` at the iterations that compute them.
struct Joint {
  CommonSpace space;
  /// Whether the fused kernel takes the position of `first` rather than that of `second`.
  bool standsAtFirst = false;
};

/// Returns how two kernels can be fused; nothing, with a `reason`, if they cannot.
std::optional<Joint> findJoint(KernelOp first, KernelOp second, const KernelLimits &limits,
                               const UserIndex &index, llvm::StringRef &reason);

/// Fuses two kernels and erases both. The fused kernel returns the results of `second`, then those
/// results of `first` that have other users.
KernelOp joinKernels(KernelOp first, KernelOp second, const Joint &joint, UserIndex &index);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_JOINKERNELS_H
