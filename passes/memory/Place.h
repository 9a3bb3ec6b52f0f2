//===- Place.h - Placement for a target -------------------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_PLACE_H
#define MTC_PASSES_MEMORY_PLACE_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-place`, with the scratch that a target's library asks for.
std::unique_ptr<mlir::Pass> createPlacePass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_PLACE_H
