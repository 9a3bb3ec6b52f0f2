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
static LogicalResult apply(PeakReducer &reducer, const Goal &goal) {
  reducer.noticeChange();
  while (true) {
    FailureOr<int64_t> excess = goal.findExcess();
    if (failed(excess))
      return failure();
    if (*excess <= 0)
      return success();
    auto offer = reducer.findOffer(*excess);
    if (failed(offer))
      return failure();
    if (!*offer)
      return success();
    if (failed(reducer.take()))
      return failure();
  }
}

static LogicalResult offload(ModuleOp module, int64_t budget) {
  MemoryAnalysis analysis(module);
  OperationTimes times(module);
  if (failed(analysis.update()))
    return failure();
  size_t count = 0;
  int64_t bytes = 0;
  for (const FunctionMemory &function : analysis.getFunctions()) {
    if (function.isAside())
      continue;
    const Goal goal{function, analysis, budget};
    ActivationOffload offload(goal, times);
    if (failed(apply(offload, goal)))
      return failure();
    // Copies overlap with computation unless the budget requires their memory.
    CopyTightening tightening(goal, times);
    if (budget && failed(apply(tightening, goal)))
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
