//===- Ladder.cpp - Greedy reduction of peak memory -------------------------------------------===//

#include "passes/search/Ladder.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;

namespace {

/// Detects when additional time no longer frees a reasonable amount of memory.
class Progress {
public:
  Progress(int64_t bytes, double time) : bytes(bytes), time(time) {}

  /// Whether the step time has grown by half since the last time that 1/32 of the memory was freed.
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

LogicalResult Ladder::climb(double mostTime, int64_t mostEffort) {
  for (PeakReducer *each : reducers)
    each->noticeChange();
  Progress progress(goal.liveBytes(), goal.getSeconds(times));
  while (true) {
    FailureOr<int64_t> excess = goal.findExcess();
    if (failed(excess))
      return failure();
    if (*excess <= 0)
      return success();
    const double time = goal.getSeconds(times); // Trials leave the function unchanged.
    if (progress.hasEnded(goal.liveBytes(), time) || goal.analysis.getEffort() > mostEffort ||
        goal.isTimeUp())
      return success();
    FailureOr<std::optional<Rung>> cheapest = findCheapest(*excess);
    if (failed(cheapest))
      return failure();
    if (!*cheapest || ((*cheapest)->time >= 0 && time >= mostTime))
      return success();
    PeakReducer *chosen = (*cheapest)->reducer;
    FailureOr<bool> isTaken = chosen->take();
    if (failed(isTaken))
      return failure();
    if (!*isTaken)
      continue;
    chosen->setUsed();
    for (PeakReducer *each : reducers)
      if (each != chosen)
        each->noticeChange();
  }
}

/// Returns the reducer with the least time per freed byte, or nothing if no reducer frees any.
FailureOr<std::optional<Ladder::Rung>> Ladder::findCheapest(int64_t needed) {
  std::optional<Rung> cheapest;
  double least = 0;
  for (PeakReducer *each : reducers) {
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
