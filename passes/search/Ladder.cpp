//===- Ladder.cpp - The cheapest bytes first --------------------------------------------------===//

#include "passes/search/Ladder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace mlir;
using namespace mtc;

/// Bytes are freed in steps of some size: a search for what is just enough may miss the budget by
/// less than this part of it, although it can be reached.
static constexpr int64_t smallPart = 16;

/// More than any function needs, with room for sums.
static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max() / 4;

LogicalResult Ladder::climb() {
  SmallVector<Way> ways = {{nullptr, /*looksForJustEnough=*/true}};
  for (Technique *each : techniques)
    if (each->hasOtherStart())
      ways.push_back({each, /*looksForJustEnough=*/true});
  for (size_t i = 0, count = ways.size(); i < count; ++i)
    ways.push_back({ways[i].otherStart, /*looksForJustEnough=*/false});

  std::optional<Way> best;
  int64_t least = 0;
  for (const Way &way : ways) {
    if (!way.looksForJustEnough && least * smallPart > goal.budget)
      break;
    if ((best && failed(goBack())) || failed(climb(way)))
      return failure();
    if (excess <= 0)
      return success();
    if (!best || excess < least) {
      best = way;
      least = excess;
    }
  }
  if (excess == least)
    return success();
  return failed(goBack()) ? failure() : climb(*best);
}

LogicalResult Ladder::climb(const Way &way) {
  startedOver = way.otherStart;
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
    FailureOr<Technique *> cheapest = findCheapest(way.looksForJustEnough ? excess : unbounded);
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
