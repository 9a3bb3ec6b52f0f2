//===- PieceSearch.cpp - Which values are computed in pieces, and in how many -----------------===//

#include "passes/pieces/PieceSearch.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

/// Values of a smaller part of what is alive at the peak are not tried.
static constexpr int64_t leastPart = 32;
static constexpr size_t mostValues = 6;
static constexpr int64_t mostPieces = 64;

/// The largest values that are computed where most is alive, or wait there to be read.
SmallVector<Value> PieceSearch::findValues() const {
  const FunctionMemory &function = goal.function;
  const int64_t peak = function.getPeakTime(), live = function.getLive()[peak];
  SmallVector<Value> values;
  llvm::DenseMap<Value, std::pair<int64_t, size_t>> ranks; // The largest first, then the oldest.
  for (const PlannedOperation *op : function.getOrder())
    for (const PlannedValue &result : op->results)
      if (op->isCompute && op->time <= peak && peak <= result.lastUse &&
          result.bytes * leastPart >= live) {
        ranks[result.value] = {-result.bytes, values.size()};
        values.push_back(result.value);
      }
  llvm::sort(values, [&](Value a, Value b) { return ranks.lookup(a) < ranks.lookup(b); });
  values.truncate(std::min(values.size(), mostValues));
  return values;
}

/// What a region in pieces frees and takes; nothing where the peak does not fall.
FailureOr<std::optional<PieceSearch::Choice>> PieceSearch::tryOut(Value value,
                                                                  const PieceRegion &region) {
  const FunctionMemory &function = goal.function;
  const OrderScore before = goal.score();
  const int64_t most = function.getLive()[function.getPeakTime()];
  double time = 0;
  for (Operation *op : region.getOperations())
    time -= times.of(op);
  PieceWriter writer(listeners);
  SmallVector<Operation *, 0> added = writer.write(region);
  for (Operation *op : added)
    time += times.of(op);
  if (failed(goal.analysis.getPlan()))
    return failure();
  int64_t left = 0;
  for (Operation *op : added)
    left = std::max(left, function.getLive()[function[op].time]);
  const OrderScore score = goal.score();
  const bool isLower = score < before && left < most;
  writer.undo();
  if (failed(goal.analysis.getPlan()))
    return failure();
  return isLower ? std::optional(Choice{{most - left, time},
                                        value,
                                        value.getLoc(),
                                        region.getCount(),
                                        before.peak - score.peak})
                 : std::nullopt;
}

/// Tries more and more pieces: the fewest that suffice or else so many that more free little more.
/// `tried` gets the values that the same regions would be found for.
FailureOr<std::optional<PieceSearch::Choice>> PieceSearch::findCount(Value value, int64_t excess,
                                                                     llvm::DenseSet<Value> &tried) {
  std::optional<Choice> best;
  for (int64_t count = 2; count <= mostPieces; count *= 2) {
    std::optional<PieceRegion> region = PieceRegion::find(value, count);
    if (!region)
      break; // Nor is there one for more.
    for (Operation *op : region->getOperations())
      for (Value result : op->getResults())
        if (!region->isReadOutside(result))
          tried.insert(result);
    auto choice = tryOut(value, *region);
    if (failed(choice))
      return failure();
    if (best && (!*choice || 10 * (*choice)->bytes < 11 * best->bytes))
      break;
    if (*choice)
      best = **choice;
    if (best && best->lowers >= excess)
      break;
  }
  return best;
}

FailureOr<std::optional<Technique::Offer>> PieceSearch::findOffer(int64_t excess) {
  offered.reset();
  double least = 0;
  llvm::DenseSet<Value> tried;
  for (Value value : findValues()) {
    if (tried.contains(value))
      continue;
    auto choice = findCount(value, excess, tried);
    if (failed(choice))
      return failure();
    if (!*choice)
      continue;
    // What does not suffice is worth what it frees here, whatever is the peak then.
    if ((*choice)->lowers >= excess)
      (*choice)->bytes = excess;
    const double price = (*choice)->time / static_cast<double>((*choice)->bytes);
    if (!offered || price < least) {
      offered = *choice;
      least = price;
    }
  }
  return offered ? std::optional<Offer>(*offered) : std::nullopt;
}

FailureOr<bool> PieceSearch::take() {
  PieceWriter(listeners).write(*PieceRegion::find(offered->value, offered->count));
  taken.push_back(*offered);
  if (failed(goal.analysis.getPlan()))
    return failure();
  return true;
}

void PieceSearch::report() const {
  for (const Choice &choice : taken)
    remark::passed(choice.location, remark::RemarkOpts::name("in_pieces").category("mtc-pieces"))
        << remark::metric("pieces", choice.count) << remark::metric("bytes", choice.bytes)
        << remark::metric("milliseconds", 1e3 * choice.time);
}
