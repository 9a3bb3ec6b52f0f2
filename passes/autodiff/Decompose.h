//===- Decompose.h - Larger operations written in the core, for a target ----------------------===//

#ifndef MTC_PASSES_AUTODIFF_DECOMPOSE_H
#define MTC_PASSES_AUTODIFF_DECOMPOSE_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-decompose`; library calls that the target's library cannot run are decomposed too.
std::unique_ptr<mlir::Pass> createDecomposePass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_DECOMPOSE_H
