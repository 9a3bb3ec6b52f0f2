//===- PieceSearch.cpp - Which values are computed in pieces, and in how many -----------------===//

#include "passes/pieces/PieceSearch.h"

#include "ir/DiscardableAttributes.h"
#include "passes/pieces/PieceWriter.h"

using namespace mlir;
using namespace mtc;

/// Values of a smaller part of what is alive at the peak are not tried.
static constexpr int64_t leastPart = 32;
static constexpr size_t mostValues = 6;
static constexpr int64_t mostPieces = 64;

/// The largest values that are computed where most is alive, or wait there to be read.
SmallVector<Value> PieceSearch::findValues() const {
  const int64_t peak = function.getPeakTime(), live = function.getLive()[peak];
  SmallVector<Value> values;
  llvm::DenseMap<Value, std::pair<int64_t, size_t>> ranks; // The largest first, then the oldest.
  for (const PlannedOperation *op : function.getOrder())
    for (const PlannedValue &result : op->results)
      if (op->isCompute && op->time <= peak && peak <= result.lastUse &&
          result.bytes * leastPart >= live && !op->op->hasAttr(inPiecesAttribute)) {
        ranks[result.value] = {-result.bytes, values.size()};
        values.push_back(result.value);
      }
  llvm::sort(values, [&](Value a, Value b) { return ranks.lookup(a) < ranks.lookup(b); });
  values.truncate(std::min(values.size(), mostValues));
  return values;
}

LogicalResult PieceSearch::tryOut(Value value, int64_t count,
                                  SmallVectorImpl<Choice> &choices) {
  std::optional<PieceRegion> region = PieceRegion::find(value, count);
  if (!region)
    return success();
  const OrderScore before = OrderModel(function).scoreAsItIs();
  double time = 0;
  for (Operation *op : region->getOperations())
    time -= cost.of(op).seconds();
  PieceWriter writer(listeners);
  for (Operation *op : writer.write(*region))
    time += cost.of(op).seconds();
  if (failed(analysis.getPlan()))
    return failure();
  const OrderScore score = OrderModel(function).scoreAsItIs();
  if (score < before)
    choices.push_back({value, count, score, before.peak - score.peak, time});
  writer.undo();
  return analysis.getPlan();
}

FailureOr<SmallVector<PieceSearch::Choice>> PieceSearch::find() {
  SmallVector<Choice> choices;
  for (Value value : findValues())
    for (int64_t count = 2; count <= mostPieces; count *= 2)
      if (failed(tryOut(value, count, choices)))
        return failure();
  return choices;
}

/// Whether more pieces free little more.
static bool freesMostOf(const PieceSearch::Choice &choice,
                        ArrayRef<PieceSearch::Choice> choices) {
  return llvm::none_of(choices, [&](const PieceSearch::Choice &other) {
    return other.value == choice.value && 10 * choice.bytes < 9 * other.bytes;
  });
}

const PieceSearch::Choice *PieceSearch::choose(ArrayRef<Choice> choices, int64_t needed) {
  const Choice *best = nullptr;
  for (const Choice &choice : choices)
    if (choice.bytes >= needed && (!best || choice.time < best->time))
      best = &choice;
  if (best)
    return best;
  auto timePerByte = [](const Choice &choice) {
    return choice.time / static_cast<double>(choice.bytes);
  };
  for (const Choice &choice : choices)
    if (choice.bytes > 0 && freesMostOf(choice, choices) &&
        (!best || timePerByte(choice) < timePerByte(*best)))
      best = &choice;
  return best;
}

LogicalResult PieceSearch::apply(const Choice &choice) {
  PieceWriter(listeners).write(*PieceRegion::find(choice.value, choice.count));
  return analysis.getPlan();
}
