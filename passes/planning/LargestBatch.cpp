//===- LargestBatch.cpp - The largest batch within a budget -----------------------------------===//

#include "passes/planning/PlanQueries.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Sizes that are known to fit and not to fit, with their peaks.
struct SizeRange {
  int64_t fits = 0, fitsPeak = 0;
  int64_t exceeds = std::numeric_limits<int64_t>::max(), exceedsPeak = 0;

  /// Returns whether the largest size is known, to 1/32 of it.
  bool isNarrow() const { return exceeds - fits <= std::max<int64_t>(1, fits / 32); }
};

} // namespace

/// Returns the next size to try: where a line through the two peaks meets the budget, but at least
/// a sixteenth of the range away from its ends.
static int64_t nextSize(const SizeRange &range, int64_t budget) {
  constexpr int64_t maxSize = int64_t{1} << 30;
  if (range.exceeds > maxSize)
    return std::min(maxSize, std::max<int64_t>(1, 2 * range.fits));
  const int64_t width = range.exceeds - range.fits, margin = std::max<int64_t>(1, width / 16);
  int64_t size = range.fits + width / 2;
  if (range.fits && range.exceedsPeak > range.fitsPeak)
    size =
        range.fits + static_cast<int64_t>(static_cast<double>(width) *
                                          static_cast<double>(budget - range.fitsPeak) /
                                          static_cast<double>(range.exceedsPeak - range.fitsPeak));
  return std::clamp(size, range.fits + margin, range.exceeds - margin);
}

std::optional<Plan> PlanQueries::findLargestBatch() {
  const BatchDimension *batch = planner.getContext().batch;
  const int64_t budget = *given.fit.memory;
  planner.getProgress().start(12); // About as many sizes are tried.
  SizeRange range;
  std::optional<Plan> largest;
  auto tryWith = [&](int64_t size) {
    PlanRequest request{given, "--dim " + batch->name + "=" + std::to_string(size),
                        Effect::Numerics};
    request.settings.dims[batch->name] = size;
    request.settings.fit.searchSeconds = planner.getProgress().getSecondsOfFirst();
    std::optional<Plan> found = planner.plan(request);
    if (found)
      planner.addMessages(*found);
    planner.forgetStages(); // Sizes share no stages.
    planner.getProgress().finishPart();
    if (found && found->fits(budget)) {
      range.fits = size;
      range.fitsPeak = found->cost.peak;
      largest = std::move(found);
    } else {
      range.exceeds = size;
      range.exceedsPeak = found ? found->cost.peak : 0;
    }
  };
  tryWith(std::max<int64_t>(1, batch->size));
  if (!range.fits && range.exceeds > 1)
    tryWith(1);
  if (!range.fits)
    return std::nullopt;
  while (!range.isNarrow() && !planner.isTimeUp())
    tryWith(nextSize(range, budget));
  return largest;
}
