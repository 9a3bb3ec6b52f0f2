//===- CombinationQueue.cpp - Combinations by a lower bound on their time ---------------------===//

#include "passes/planning/CombinationQueue.h"

using namespace mlir;
using namespace mtc;

CombinationQueue::CombinationQueue(Planner &planner, ArrayRef<Combination> combinations,
                                   SettingsOf settings)
    : planner(planner), settingsOf(std::move(settings)) {
  // Some calls become parts of others, or kernels, after this stage.
  constexpr double minPart = 0.75;
  planner.lowerAhead(llvm::map_to_vector<0>(combinations, [&](const Combination &each) {
    return StageCache::Request{settingsOf(each), Stage::Training};
  }));
  for (auto [number, combination] : llvm::enumerate(combinations)) {
    if (planner.isTimeUp() && !entries.empty())
      break; // One combination is planned in any case.
    if (std::optional<double> seconds = planner.getSecondsOfCalls(settingsOf(combination)))
      entries.push_back({combination, number, minPart * *seconds});
  }
}

const CombinationQueue::Entry *CombinationQueue::findNext() const {
  const auto next = llvm::min_element(entries, [](const Entry &a, const Entry &b) {
    return a.getMinSeconds() < b.getMinSeconds();
  });
  return next == entries.end() ? nullptr : &*next;
}

std::optional<CombinationQueue::Entry>
CombinationQueue::takeNext(std::optional<double> maxSeconds) {
  auto order = [](const Entry &each) {
    return std::tuple(each.getMinSeconds(), each.cost.has_value(), each.combination.countChanges(),
                      each.number);
  };
  while (!entries.empty()) {
    auto next = llvm::min_element(
        entries, [&](const Entry &a, const Entry &b) { return order(a) < order(b); });
    if (maxSeconds && *maxSeconds <= next->getMinSeconds())
      return std::nullopt;
    if (next->cost) {
      Entry taken = std::move(*next);
      entries.erase(next);
      return taken;
    }
    boundWithKernels(*next);
  }
  return std::nullopt;
}

/// Forms the kernels of an entry, and of other entries whose calls take about the same time.
/// Several threads lower them together. Combinations without a plan are removed.
void CombinationQueue::boundWithKernels(Entry &first) {
  constexpr double near = 1.25;
  const double maxSeconds = near * first.secondsOfCalls;
  SmallVector<Entry *> group;
  for (Entry &each : entries)
    if (!each.cost && each.secondsOfCalls <= maxSeconds)
      group.push_back(&each);
  std::swap(group.front(), *llvm::find(group, &first));
  const auto costs = planner.boundEach(llvm::map_to_vector<0>(
      group, [&](const Entry *each) { return settingsOf(each->combination); }));
  for (auto [each, cost] : llvm::zip_equal(group, costs)) {
    each->cost = cost;
    each->isPossible = cost.has_value();
    planner.getProgress().finishPart();
  }
  llvm::erase_if(entries, [](const Entry &each) { return !each.isPossible; });
}
