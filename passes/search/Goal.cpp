//===- Goal.cpp - Memory budget of a function -------------------------------------------------===//

#include "passes/search/Goal.h"

#include "passes/memory/ArenaLayout.h"

using namespace mlir;
using namespace mtc;

OrderScore Goal::score() const {
  ArrayRef<int64_t> live = function.getLive();
  const int64_t peak = live[function.getPeakTime()];
  return {peak, llvm::count_if(function.getOrder(), [&](const PlannedOperation *op) {
            return live[op->time] == peak && op->takesTime();
          })};
}

FailureOr<int64_t> Goal::findExcess() const {
  FailureOr<MemoryPlan> plan = analysis.getPlan();
  if (failed(plan))
    return failure();
  const int64_t excess = liveBytes() - budget;
  if (excess > 0)
    return excess;
  // Another function determines the peak of the common layout, so lay out this function alone.
  if (plan->live > liveBytes())
    return analysis.getFixedBytes() + layOut(function.getBuffers().temporaries).size - budget;
  plan = analysis.getPlanWithLayout();
  if (failed(plan))
    return failure();
  return plan->peak - budget;
}
