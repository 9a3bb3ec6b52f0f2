//===- Ladder.cpp - The cheapest bytes first --------------------------------------------------===//

#include "passes/search/Ladder.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;

namespace {

/// Whether time still buys memory.
class Progress {
public:
  Progress(const Goal &goal, OperationTimes &times) : goal(goal), times(times) { note(); }

  /// Whether a step takes half as long again as when 1/32 more was alive.
  bool hasEnded() {
    if (goal.liveBytes() * 32 <= bytes * 31)
      note();
    return times.ofFunction(goal.function.getFunction()) > 1.5 * time;
  }

private:
  void note() {
    bytes = goal.liveBytes();
    time = times.ofFunction(goal.function.getFunction());
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
    if (!*cheapest ||
        ((*cheapest)->time >= 0 && times.ofFunction(goal.function.getFunction()) >= mostTime))
      return success();
    Technique *chosen = (*cheapest)->technique;
    FailureOr<bool> isTaken = chosen->take();
    if (failed(isTaken))
      return failure();
    if (!*isTaken)
      continue;
    for (Technique *each : techniques)
      if (each != chosen)
        each->noticeChange();
  }
}

/// The one that takes the least time for what it frees of the excess; none where none frees any.
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
