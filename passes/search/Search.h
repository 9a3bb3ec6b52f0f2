//===- Search.h - Search for a plan within the memory budget ----------------------------------===//

#ifndef MTC_PASSES_SEARCH_SEARCH_H
#define MTC_PASSES_SEARCH_SEARCH_H

#include "passes/cost/OperationTimes.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"

#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <limits>

namespace mtc {

using PeakReducers = llvm::SmallVector<std::unique_ptr<PeakReducer>>;
using MakePeakReducers =
    llvm::function_ref<PeakReducers(const FunctionBudget &budget, OperationTimes &times)>;

/// The result of a search.
struct FittedModule {
  int64_t peak = 0;   ///< Bytes of the arena.
  double seconds = 0; ///< Of an update; 0 if the searched module is the result.
  mlir::OwningOpRef<mlir::ModuleOp> module = {}; ///< Null if the searched module is the result.

  /// Replaces the searched module's contents by those of the result.
  void applyTo(mlir::ModuleOp searched);
};

/// A change of a module after which a search starts in addition, such as one that flags could
/// request.
struct SearchStart {
  llvm::SmallVector<llvm::StringRef> techniques; ///< The names of the techniques that it applies.
  int64_t maxFreed; ///< The change lowers the peak by at most so many bytes.
  /// Changes a copy of the module. Returns a function that emits the remarks; null if there was
  /// nothing to change. Fails with a diagnostic if there is no memory plan.
  std::function<mlir::FailureOr<std::function<void()>>(mlir::ModuleOp)> apply;
};

/// Changes the functions of a copy of a module by reducers until its arena has at most `budget`
/// bytes. Several attempts are made, from the module as given, from the reducers' alternative
/// starts and from `others`, and the one with the lowest estimated time is kept. If none meets the
/// budget, the one with the lowest peak is kept. Of a large program, only the first two of `others`
/// that could meet the budget are tried if another attempt meets it. An attempt ends when an update
/// takes `maxSeconds`. The search is limited by the number of planned operations, so that its
/// result is deterministic; a deadline ends it earlier with what it has reached. Emits the
/// reducers' remarks. Fails with a diagnostic if there is no memory plan.
mlir::FailureOr<FittedModule> searchFit(mlir::ModuleOp module, int64_t budget,
                                        MakePeakReducers make,
                                        double maxSeconds = std::numeric_limits<double>::infinity(),
                                        Deadline deadline = Deadline::max(),
                                        llvm::ArrayRef<SearchStart> others = {});

} // namespace mtc

#endif // MTC_PASSES_SEARCH_SEARCH_H
