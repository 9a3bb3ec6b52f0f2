//===- PrepareCalls.h - Layouts of library calls for a target ---------------------------------===//

#ifndef MTC_PASSES_MEMORY_PREPARECALLS_H
#define MTC_PASSES_MEMORY_PREPARECALLS_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-prepare-calls`, with the rates of a target's library.
std::unique_ptr<mlir::Pass> createPrepareCallsPass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_PREPARECALLS_H
