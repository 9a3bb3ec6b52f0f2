//===- Ladder.cpp - The cheapest bytes first --------------------------------------------------===//

#include "passes/search/Ladder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;

LogicalResult Ladder::climb() {
  if (failed(climbFromHere()))
    return failure();
  auto *other = llvm::find_if(techniques, [](Technique *each) { return each->hasOtherStart(); });
  if (isReached || other == techniques.end())
    return success();
  const OrderScore least = goal.score();
  if (failed(undo()) || failed((*other)->startOver()) || failed(climbFromHere()))
    return failure();
  if (isReached || goal.score() < least)
    return success();
  if (failed(undo()))
    return failure();
  (*other)->undoStart();
  if (failed(goal.analysis.getPlan()))
    return failure();
  return climbFromHere();
}

LogicalResult Ladder::climbFromHere() {
  for (Technique *each : techniques)
    each->noticeChange();
  while (true) {
    FailureOr<int64_t> excess = goal.findExcess();
    if (failed(excess))
      return failure();
    isReached = *excess <= 0;
    if (isReached)
      return success();
    FailureOr<Technique *> cheapest = findCheapest(*excess);
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
FailureOr<Technique *> Ladder::findCheapest(int64_t excess) {
  Technique *cheapest = nullptr;
  double least = 0;
  for (Technique *each : techniques) {
    auto offer = each->findOffer(excess);
    if (failed(offer))
      return failure();
    if (!*offer)
      continue;
    const double price = (*offer)->time / static_cast<double>(std::min((*offer)->bytes, excess));
    if (!cheapest || price < least) {
      cheapest = each;
      least = price;
    }
  }
  return cheapest;
}

LogicalResult Ladder::undo() {
  for (Technique *each : llvm::reverse(changes))
    each->undoLast();
  changes.clear();
  return goal.analysis.getPlan();
}
