//===- Fit.h - Search for a plan within the memory budget -------------------------------------===//

#ifndef MTC_PASSES_PLANNING_FIT_H
#define MTC_PASSES_PLANNING_FIT_H

#include "passes/planning/FitOptions.h"

namespace mtc {

std::unique_ptr<mlir::Pass> createFit(const FitOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_FIT_H
