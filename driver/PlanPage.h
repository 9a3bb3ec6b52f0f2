//===- PlanPage.h - Memory plan as an HTML page -----------------------------------------------===//

#ifndef MTC_DRIVER_PLANPAGE_H
#define MTC_DRIVER_PLANPAGE_H

#include "passes/memory/MemoryPlan.h"
#include "passes/memory/MemoryTimeline.h"
#include "passes/planning/PlanQueries.h"

#include "llvm/Support/raw_ostream.h"

namespace mtc::tool {

/// A plan and the facts about it that its page shows.
struct PlanFacts {
  const MemoryPlan &plan;
  const MemoryTimeline &timeline;
  std::string model, target;
  std::string techniques;         ///< those that lowered the peak; "" if there are none
  std::optional<int64_t> budget;  ///< bytes
  const Suggestions &suggestions; ///< flags that would lower the peak
};

/// Writes a self-contained HTML file that shows the offsets and live ranges of all values in the
/// arena, with the description of each value and why it is live, whether the budget is met, and
/// what would lower the peak. The data is stored as JSON in the element `data`.
void writePlanPage(const PlanFacts &facts, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANPAGE_H
