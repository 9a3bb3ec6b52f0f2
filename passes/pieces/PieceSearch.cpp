//===- PieceSearch.cpp - Which values are computed in pieces, and in how many -----------------===//

#include "passes/pieces/PieceSearch.h"

#include "ir/DiscardableAttributes.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

/// Values of a smaller part of what is alive at the peak are not tried.
static constexpr int64_t leastPart = 32;
static constexpr size_t mostValues = 6;
static constexpr int64_t mostPieces = 64;

/// The same for values that are computed alike.
size_t PieceSearch::hash(Value value) {
  const size_t ofOperation = OperationEquivalence::computeHash(
      value.getDefiningOp(), OperationEquivalence::ignoreHashValue,
      OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
  return llvm::hash_combine(ofOperation, cast<OpResult>(value).getResultNumber());
}

/// The largest values that are computed where most is alive, or wait there to be read.
SmallVector<Value> PieceSearch::findValues() const {
  const FunctionMemory &function = goal.function;
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
  const bool isLower = goal.score() < before && left < most;
  writer.undo();
  if (failed(goal.analysis.getPlan()))
    return failure();
  return isLower ? std::optional(Choice{{most - left, time}, value, region.getCount()})
                 : std::nullopt;
}

/// Tries more and more pieces, until they suffice or more of them free little more. Of a value that
/// is computed as one of another layer, as many as there.
LogicalResult PieceSearch::tryCounts(Value value, int64_t excess,
                                     SmallVectorImpl<Choice> &choices) {
  const int64_t known = counts.lookup(hash(value));
  int64_t freed = 0;
  for (int64_t count = known ? known : 2; count <= mostPieces; count *= 2) {
    std::optional<PieceRegion> region = PieceRegion::find(value, count);
    if (!region)
      return success(); // Nor is there one for more.
    auto choice = tryOut(value, *region);
    if (failed(choice))
      return failure();
    if (*choice && 10 * (*choice)->bytes < 11 * freed)
      return success();
    if (*choice)
      choices.push_back(**choice);
    freed = *choice ? (*choice)->bytes : freed;
    if (freed >= excess || known)
      return success();
  }
  return success();
}

FailureOr<std::optional<Technique::Offer>> PieceSearch::findOffer(int64_t excess) {
  SmallVector<Choice> choices;
  for (Value value : findValues())
    if (failed(tryCounts(value, excess, choices)))
      return failure();
  offered.reset();
  auto price = [&](const Choice &choice) {
    return choice.time / static_cast<double>(std::min(choice.bytes, excess));
  };
  for (const Choice &choice : choices)
    if (!offered || price(choice) < price(*offered))
      offered = choice;
  return offered ? std::optional<Offer>(*offered) : std::nullopt;
}

FailureOr<bool> PieceSearch::take() {
  auto writer = std::make_unique<PieceWriter>(listeners);
  writer->write(*PieceRegion::find(offered->value, offered->count));
  counts[hash(offered->value)] = offered->count;
  changes.push_back({*offered, std::move(writer)});
  if (failed(goal.analysis.getPlan()))
    return failure();
  return true;
}

void PieceSearch::undoLast() {
  changes.back().writer->undo();
  changes.pop_back();
}

void PieceSearch::report() const {
  for (const Change &change : changes)
    remark::passed(change.choice.value.getLoc(),
                   remark::RemarkOpts::name("in_pieces").category("mtc-pieces"))
        << remark::metric("pieces", change.choice.count)
        << remark::metric("bytes", change.choice.bytes)
        << remark::metric("milliseconds", 1e3 * change.choice.time);
}
