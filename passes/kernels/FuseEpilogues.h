//===- FuseEpilogues.h - Sums in library calls, for a target ----------------------------------===//

#ifndef MTC_PASSES_KERNELS_FUSEEPILOGUES_H
#define MTC_PASSES_KERNELS_FUSEEPILOGUES_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-fuse-epilogues`, with the rates of a target's library.
std::unique_ptr<mlir::Pass> createFuseEpiloguesPass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_FUSEEPILOGUES_H
