//===- Ladder.cpp - The cheapest bytes first --------------------------------------------------===//

#include "passes/search/Ladder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;

LogicalResult Ladder::climb() {
  if (failed(climbFrom(nullptr)))
    return failure();
  auto *other = llvm::find_if(techniques, [](Technique *each) { return each->hasOtherStart(); });
  if (excess <= 0 || other == techniques.end())
    return success();
  const int64_t least = excess;
  if (failed(goBack()) || failed(climbFrom(*other)))
    return failure();
  if (excess <= 0 || excess < least)
    return success();
  return failed(goBack()) ? failure() : climbFrom(nullptr);
}

LogicalResult Ladder::climbFrom(Technique *otherStart) {
  startedOver = otherStart;
  if (startedOver && failed(startedOver->startOver()))
    return failure();
  for (Technique *each : techniques)
    each->noticeChange();
  while (true) {
    FailureOr<int64_t> found = goal.findExcess();
    if (failed(found))
      return failure();
    excess = *found;
    if (excess <= 0)
      return success();
    FailureOr<Technique *> cheapest = findCheapest(excess);
    if (failed(cheapest))
      return failure();
    if (!*cheapest)
      return success();
    FailureOr<bool> isTaken = (*cheapest)->take();
    if (failed(isTaken))
      return failure();
    if (!*isTaken)
      continue;
    changes.push_back(*cheapest);
    for (Technique *each : techniques)
      if (each != *cheapest)
        each->noticeChange();
  }
}

/// The one that takes the least time for what it frees of the excess; null where none frees any.
FailureOr<Technique *> Ladder::findCheapest(int64_t needed) {
  Technique *cheapest = nullptr;
  double least = 0;
  for (Technique *each : techniques) {
    auto offer = each->findOffer(needed);
    if (failed(offer))
      return failure();
    if (!*offer)
      continue;
    const double price = (*offer)->time / static_cast<double>(std::min((*offer)->bytes, needed));
    if (!cheapest || price < least) {
      cheapest = each;
      least = price;
    }
  }
  return cheapest;
}

LogicalResult Ladder::goBack() {
  for (Technique *each : llvm::reverse(changes))
    each->undoLast();
  changes.clear();
  if (startedOver)
    startedOver->undoStart();
  startedOver = nullptr;
  return goal.analysis.getPlan();
}
