//===- FuseColumnSums.h - Columns summed on the way, for a target -----------------------------===//

#ifndef MTC_PASSES_KERNELS_FUSECOLUMNSUMS_H
#define MTC_PASSES_KERNELS_FUSECOLUMNSUMS_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-fuse-column-sums`, with the scratch that a target's kernels need.
std::unique_ptr<mlir::Pass> createFuseColumnSumsPass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_FUSECOLUMNSUMS_H
