//===- Search.h - A module is changed until it fits -------------------------------------------===//

#ifndef MTC_PASSES_SEARCH_SEARCH_H
#define MTC_PASSES_SEARCH_SEARCH_H

#include "passes/cost/OperationTimes.h"
#include "passes/search/Goal.h"
#include "passes/search/Technique.h"

namespace mtc {

using Techniques = llvm::SmallVector<std::unique_ptr<Technique>>;
using MakeTechniques = llvm::function_ref<Techniques(const Goal &goal, OperationTimes &times)>;

/// How long is searched. What is found with little effort needs no less than with the whole one.
enum class SearchEffort { Little, Whole };

/// Changes the functions of a module by techniques until its arena takes no more than `budget`
/// bytes: to the fastest, by estimated times, of what fits when the techniques start with the
/// module as it is, or with their other starts. Where neither fits, to what needs the fewest bytes.
/// The effort is bounded by a number of operations that are planned, not by time, so that a search
/// ends alike on every machine. Emits the techniques' remarks. Gives the bytes of the arena; fails
/// with a diagnostic where there is no plan.
mlir::FailureOr<int64_t> searchFit(mlir::ModuleOp module, int64_t budget, MakeTechniques make,
                                   SearchEffort effort);

} // namespace mtc

#endif // MTC_PASSES_SEARCH_SEARCH_H
