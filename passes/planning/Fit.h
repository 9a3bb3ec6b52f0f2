//===- Fit.h - Search for a plan within the memory budget -------------------------------------===//

#ifndef MTC_PASSES_PLANNING_FIT_H
#define MTC_PASSES_PLANNING_FIT_H

#include "passes/planning/FitOptions.h"

namespace mtc {

/// On a module: the peak in bytes and the seconds of an update. The pass sets the attribute when it
/// fails because the update takes longer than of interest. The result of a failed pass is never
/// verified, so the dialect does not list the attribute.
inline constexpr llvm::StringLiteral tooSlowAttribute = "mtc.too_slow";

std::unique_ptr<mlir::Pass> createFit(const FitOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_FIT_H
