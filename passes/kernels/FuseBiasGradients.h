//===- FuseBiasGradients.h - Sums of rows in library calls, for a target --------------------===//

#ifndef MTC_PASSES_KERNELS_FUSEBIASGRADIENTS_H
#define MTC_PASSES_KERNELS_FUSEBIASGRADIENTS_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-fuse-bias-gradients`, with the rates of a target's library.
std::unique_ptr<mlir::Pass> createFuseBiasGradientsPass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_FUSEBIASGRADIENTS_H
