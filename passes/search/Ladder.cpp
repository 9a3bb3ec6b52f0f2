//===- Ladder.cpp - Greedy reduction of peak memory -------------------------------------------===//

#include "passes/search/Ladder.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;

namespace {

/// Detects when additional time no longer frees a reasonable amount of memory.
class Progress {
public:
  Progress(const Goal &goal, OperationTimes &times) : goal(goal), times(times) { note(); }

  /// Whether the step time has grown by half since the last time that 1/32 of the memory was freed.
  bool hasEnded() {
    if (goal.liveBytes() * 32 <= bytes * 31)
      note();
    return goal.getSeconds(times) > 1.5 * time;
  }

private:
  void note() {
    bytes = goal.liveBytes();
    time = goal.getSeconds(times);
  }

  const Goal &goal;
  OperationTimes &times;
  int64_t bytes;
  double time;
};

} // namespace

LogicalResult Ladder::climb(double mostTime, int64_t mostEffort) {
  for (Technique *each : techniques)
    each->noticeChange();
  Progress progress(goal, times);
  while (true) {
    FailureOr<int64_t> excess = goal.findExcess();
    if (failed(excess))
      return failure();
    if (*excess <= 0 || progress.hasEnded() || goal.analysis.getEffort() > mostEffort)
      return success();
    FailureOr<std::optional<Rung>> cheapest = findCheapest(*excess);
    if (failed(cheapest))
      return failure();
    if (!*cheapest || ((*cheapest)->time >= 0 && goal.getSeconds(times) >= mostTime))
      return success();
    Technique *chosen = (*cheapest)->technique;
    FailureOr<bool> isTaken = chosen->take();
    if (failed(isTaken))
      return failure();
    if (!*isTaken)
      continue;
    chosen->setUsed();
    for (Technique *each : techniques)
      if (each != chosen)
        each->noticeChange();
  }
}

/// Returns the technique with the least time per freed byte, or nothing if no technique frees any.
FailureOr<std::optional<Ladder::Rung>> Ladder::findCheapest(int64_t needed) {
  std::optional<Rung> cheapest;
  double least = 0;
  for (Technique *each : techniques) {
    auto offer = each->findOffer(needed);
    if (failed(offer))
      return failure();
    if (!*offer)
      continue;
    const double price = (*offer)->time / static_cast<double>(std::min((*offer)->bytes, needed));
    if (!cheapest || price < least) {
      cheapest = {each, (*offer)->time};
      least = price;
    }
  }
  return cheapest;
}
