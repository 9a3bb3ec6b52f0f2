//===- JoinKernels.h - Two kernels as one -----------------------------------------------------===//

#ifndef MTC_PASSES_KERNELS_JOINKERNELS_H
#define MTC_PASSES_KERNELS_JOINKERNELS_H

#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSpaces.h"
#include "passes/kernels/ReaderIndex.h"

namespace mtc {

/// What joining two kernels of one block takes: `first` is before `second`, which may read its
/// results at the points at which they are computed.
struct Joint {
  CommonSpace space;
  /// The joint kernel stands where one of the two does.
  bool standsAtFirst = false;
};

/// Finds out whether one kernel can do what two do; if not, `reason` says why.
std::optional<Joint> findJoint(KernelOp first, KernelOp second, const KernelLimits &limits,
                               const ReaderIndex &index, llvm::StringRef &reason);

/// Joins two kernels; both are erased. The joint kernel gives the second's results, then those of
/// the first that are read elsewhere.
KernelOp joinKernels(KernelOp first, KernelOp second, const Joint &joint, ReaderIndex &index);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_JOINKERNELS_H
