//===- Retention.cpp - Removal of unnecessary recomputation -----------------------------------===//

#include "passes/recompute/Retention.h"

#include <map>

using namespace mlir;
using namespace mtc;

/// Limit on the number of memory plans.
static constexpr size_t maxTries = 128;

void Retention::forgetErased() {
  llvm::DenseSet<Operation *> known;
  for (Operation &op : budget.function.getFunction().front())
    known.insert(&op);
  llvm::erase_if(copies, [&](const Rematerializer::Added::Copy &each) {
    return !known.contains(each.copy) || !known.contains(each.original);
  });
}

void Retention::forgetRemoved() {
  llvm::DenseMap<Operation *, const Rematerializer::Added::Copy *> removed;
  for (const Rematerializer::Added::Copy &each : copies)
    if (!each.copy->getBlock())
      removed[each.copy] = &each;
  for (Rematerializer::Added::Copy &each : copies)
    while (const Rematerializer::Added::Copy *between = removed.lookup(each.original)) {
      const unsigned number = each.value.getResultNumber();
      const bool isWhole = between->copy->getNumResults() == between->original->getNumResults();
      if (!isWhole && number > 0)
        break; // Only the first result of a slice has a known original.
      each.value = isWhole ? between->original->getResult(number) : between->value;
      each.original = between->original;
    }
  forgetErased();
}

SmallVector<Retention::TimedCopy, 0> Retention::getMostExpensiveFirst() const {
  SmallVector<std::pair<double, size_t>, 0> order;
  for (auto [i, each] : llvm::enumerate(copies))
    order.push_back({-times.of(each.copy), i});
  llvm::sort(order);
  return llvm::map_to_vector<0>(
      order, [&](auto each) { return TimedCopy(-each.first, copies[each.second]); });
}

LogicalResult Retention::remove(ArrayRef<TimedCopy> known, size_t maxTries, Removals &removals) {
  std::map<double, int> needed; // Number of needed copies by cost.
  for (const auto &[seconds, each] : known) {
    if (!each.copy->getBlock() || !each.original->getBlock() || needed[seconds] >= maxNeeded)
      continue;
    auto removal = std::make_unique<CopyRemoval>(times, listener);
    if (!removal->remove(each))
      continue;
    if (failed(budget.analysis.update()))
      return failure();
    if (budget.liveBytes() <= budget.bytes) {
      removals.push_back(std::move(removal));
    } else {
      ++needed[seconds];
      removal->undo();
    }
    if (--maxTries == 0 || budget.isTimeUp())
      break;
  }
  return budget.analysis.update();
}

FailureOr<double> Retention::dropSuperfluous() {
  forgetErased();
  Removals drops;
  if (failed(remove(getMostExpensiveFirst(), maxTries, drops)))
    return failure();
  // The layout may exceed the budget although the live bytes do not. In this case, all drops are
  // undone.
  FailureOr<int64_t> excess = budget.findExcess();
  if (failed(excess))
    return failure();
  double saved = 0;
  for (const std::unique_ptr<CopyRemoval> &drop : llvm::reverse(drops)) {
    if (*excess > 0)
      drop->undo();
    else
      saved += drop->getTime();
  }
  forgetRemoved();
  return saved;
}
