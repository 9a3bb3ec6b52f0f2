//===- Goal.cpp - What a function may need of memory ------------------------------------------===//

#include "passes/search/Goal.h"

using namespace mlir;
using namespace mtc;

FailureOr<int64_t> Goal::findExcess() const {
  FailureOr<MemoryPlan> plan = analysis.getPlan();
  if (failed(plan))
    return failure();
  const int64_t excess = liveBytes() - budget;
  if (excess > 0 || plan->live > liveBytes())
    return excess;
  plan = analysis.getPlanWithLayout();
  if (failed(plan))
    return failure();
  return plan->peak - budget;
}
