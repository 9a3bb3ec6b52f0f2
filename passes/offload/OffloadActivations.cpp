//===- OffloadActivations.cpp - Offloads activations to another memory space ------------------===//

#include "passes/Passes.h"
#include "passes/offload/ActivationOffload.h"
#include "passes/offload/CopyTightening.h"
#include "passes/offload/OffloadOptions.h"

namespace mtc {
#define GEN_PASS_DEF_OFFLOADACTIVATIONS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Applies a reducer's changes to the function with the highest peak until the budget is met or, if
/// there is none, as often as it lowers the peak.
static LogicalResult apply(PeakReducer &reducer, const FunctionBudget &budget) {
  reducer.noticeChange();
  while (true) {
    FailureOr<int64_t> excess = budget.findExcess();
    if (failed(excess))
      return failure();
    if (*excess <= 0)
      return success();
    auto candidate = reducer.findCandidate(*excess);
    if (failed(candidate))
      return failure();
    if (!*candidate)
      return success();
    if (failed(reducer.applyCandidate()))
      return failure();
  }
}

static LogicalResult offload(ModuleOp module, std::optional<int64_t> maxBytes) {
  MemoryAnalysis analysis(module);
  OperationTimes times(module);
  if (failed(analysis.update()))
    return failure();
  size_t count = 0;
  int64_t bytes = 0;
  for (const FunctionMemory &function : analysis.getFunctions()) {
    if (function.hasSeparateArena())
      continue;
    const FunctionBudget budget{function, analysis, maxBytes.value_or(0)};
    ActivationOffload offload(budget, times);
    if (failed(apply(offload, budget)))
      return failure();
    // Copies overlap with computation unless the budget requires their memory.
    CopyTightening tightening(budget, times);
    if (maxBytes && failed(apply(tightening, budget)))
      return failure();
    count += offload.getCount();
    bytes += offload.getBytes();
  }
  reportMoved(module, count, bytes);
  return success();
}

namespace {

class OffloadActivationsPass
    : public PassWithOptions<mtc::impl::OffloadActivationsBase<OffloadActivationsPass>,
                             OffloadPassOptions> {
public:
  using PassWithOptions::PassWithOptions;

private:
  void runOnOperation() override {
    FailureOr<OffloadPassOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    const OffloadUses uses =
        options->choice.getUses(TargetInfo::of(getOperation()).getOffloadSpace());
    if (uses[OffloadKind::Activations] == OffloadUse::On &&
        failed(offload(getOperation(), options->budget)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createOffloadActivations(const OffloadPassOptions &options) {
  return std::make_unique<OffloadActivationsPass>(options);
}
