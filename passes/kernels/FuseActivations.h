//===- FuseActivations.h - Activations in library calls, for a target -----------------------===//

#ifndef MTC_PASSES_KERNELS_FUSEACTIVATIONS_H
#define MTC_PASSES_KERNELS_FUSEACTIVATIONS_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-fuse-activations`, with the rates of a target's library.
std::unique_ptr<mlir::Pass> createFuseActivationsPass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_FUSEACTIVATIONS_H
