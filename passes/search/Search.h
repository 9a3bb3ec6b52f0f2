//===- Search.h - Search for a plan within the memory budget ----------------------------------===//

#ifndef MTC_PASSES_SEARCH_SEARCH_H
#define MTC_PASSES_SEARCH_SEARCH_H

#include "passes/cost/OperationTimes.h"
#include "passes/search/Goal.h"
#include "passes/search/Technique.h"

namespace mtc {

using Techniques = llvm::SmallVector<std::unique_ptr<Technique>>;
using MakeTechniques = llvm::function_ref<Techniques(const Goal &goal, OperationTimes &times)>;

/// Changes the functions of a module by techniques until its arena has at most `budget` bytes.
/// Several attempts are made, from the module as given and from the techniques' alternative starts,
/// and the one with the lowest estimated time is kept. If none meets the budget, the one with the
/// lowest peak is kept. The search is limited by the number of planned operations and not by time,
/// so that its result is deterministic. Emits the techniques' remarks. Returns the bytes of the
/// arena. Fails with a diagnostic if there is no memory plan.
mlir::FailureOr<int64_t> searchFit(mlir::ModuleOp module, int64_t budget, MakeTechniques make);

} // namespace mtc

#endif // MTC_PASSES_SEARCH_SEARCH_H
