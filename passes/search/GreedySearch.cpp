//===- GreedySearch.cpp - Greedy reduction of peak memory -------------------------------------===//

#include "passes/search/GreedySearch.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;

namespace {

/// Detects when additional time no longer frees a reasonable amount of memory.
class Progress {
public:
  Progress(int64_t bytes, double time) : bytes(bytes), time(time) {}

  /// Returns whether the step time has grown by half since the last time that 1/32 of the memory
  /// was freed.
  bool hasEnded(int64_t bytesNow, double timeNow) {
    if (bytesNow * 32 <= bytes * 31)
      *this = Progress(bytesNow, timeNow);
    return timeNow > 1.5 * time;
  }

private:
  int64_t bytes;
  double time;
};

} // namespace

LogicalResult GreedySearch::run(double maxTime, int64_t maxEffort) {
  for (PeakReducer *each : reducers)
    each->noticeChange();
  Progress progress(budget.liveBytes(), budget.getSeconds(times));
  while (true) {
    FailureOr<int64_t> excess = budget.findExcess();
    if (failed(excess))
      return failure();
    if (*excess <= 0)
      return success();
    const double time = budget.getSeconds(times); // Trials leave the function unchanged.
    if (progress.hasEnded(budget.liveBytes(), time) || budget.analysis.getEffort() > maxEffort ||
        budget.isTimeUp())
      return success();
    FailureOr<std::optional<Step>> cheapest = findCheapest(*excess);
    if (failed(cheapest))
      return failure();
    if (!*cheapest || ((*cheapest)->time >= 0 && time >= maxTime))
      return success();
    PeakReducer *chosen = (*cheapest)->reducer;
    FailureOr<bool> isApplied = chosen->applyCandidate();
    if (failed(isApplied))
      return failure();
    if (!*isApplied)
      continue;
    chosen->setUsed();
    for (PeakReducer *each : reducers)
      if (each != chosen)
        each->noticeChange();
  }
}

/// Returns the step with the lowest time per freed byte, or nothing if no reducer has a candidate.
FailureOr<std::optional<GreedySearch::Step>> GreedySearch::findCheapest(int64_t needed) {
  std::optional<Step> cheapest;
  double lowest = 0;
  for (PeakReducer *each : reducers) {
    auto candidate = each->findCandidate(needed);
    if (failed(candidate))
      return failure();
    if (!*candidate)
      continue;
    const double price =
        (*candidate)->time / static_cast<double>(std::min((*candidate)->bytes, needed));
    if (!cheapest || price < lowest) {
      cheapest = {each, (*candidate)->time};
      lowest = price;
    }
  }
  return cheapest;
}
