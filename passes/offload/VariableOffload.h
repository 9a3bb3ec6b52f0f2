//===- VariableOffload.h - Reduction of peak memory by offloading of variables ----------------===//

#ifndef MTC_PASSES_OFFLOAD_VARIABLEOFFLOAD_H
#define MTC_PASSES_OFFLOAD_VARIABLEOFFLOAD_H

#include "passes/Listeners.h"
#include "passes/offload/EditLog.h"
#include "passes/offload/VariableGroups.h"
#include "passes/offload/VariableMover.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"

namespace mtc {

/// Returns a mover of the groups of a kind of tensors. `window` is the maximum size of a transfer
/// slot. `analysis` must be up to date.
std::unique_ptr<VariableMover> makeMover(OffloadKind kind, mlir::ModuleOp module,
                                         const MemoryAnalysis &analysis, OperationTimes &times,
                                         int64_t window);

/// Moves variables of one kind to another memory space, in the order of `collectGroups`. A change
/// affects all functions of the module; its time is that of an update. Transfer slots count as the
/// price of the first group that needs them, so a candidate may consist of several groups.
class VariableOffload final : public PeakReducer {
public:
  /// `window` is the maximum size of a transfer slot.
  VariableOffload(const FunctionBudget &budget, OperationTimes &times, OffloadKind kind,
                  int64_t window);

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override;
  mlir::FailureOr<bool> applyCandidate() override;
  void noticeChange() override;
  void report() const override;

private:
  struct Choice : Candidate {
    size_t count; ///< number of groups
  };

  /// Groups whose accesses are planned. The plan refers to analyzed operations, so it is invalid
  /// after any of them has been analyzed again.
  struct Planned {
    explicit Planned(const VariableOffload &offload)
        : mover(makeMover(offload.kind, offload.module, offload.budget.analysis, offload.times,
                          offload.window)),
          reads(offload.budget.analysis.getReads()) {}

    std::unique_ptr<VariableMover> mover;
    int64_t reads;
    llvm::SmallVector<VariableGroup *> groups;
  };

  mlir::SmallVector<VariableGroup *> findLeft();
  std::optional<Choice> choose(int64_t excess);
  /// Plans the groups of the candidate, unless `choose` has just done so.
  Planned &planCandidate();

  const FunctionBudget &budget;
  OperationTimes &times;
  mlir::ModuleOp module;
  const OffloadKind kind;
  const int64_t window;
  Listeners listeners;
  EditLog edits;
  std::vector<VariableGroup> groups;
  llvm::DenseSet<VariableGroup *> refused;
  std::optional<Choice> candidate;
  std::optional<Planned> planned; ///< The groups that `choose` compared.
  bool isKnown = false;           ///< `candidate` was chosen before, possibly before another change
  bool isStale = false;           ///< another change was made since
  int64_t needed = 0;
  size_t count = 0;
  int64_t bytes = 0;
};

struct OffloadedVariables {
  size_t count = 0;
  int64_t bytes = 0;
};

/// Offloads the variables of the kinds whose use is On: as many as the budget requires, or all if
/// there is none. Emits warnings and remarks if `isReported`.
mlir::FailureOr<OffloadedVariables> offloadVariables(mlir::ModuleOp module,
                                                     const OffloadPassOptions &options,
                                                     const OffloadUses &uses, bool isReported);

/// Emits a remark on offloaded variables, if there are any.
void reportOffloaded(mlir::ModuleOp module, size_t count, int64_t bytes);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_VARIABLEOFFLOAD_H
