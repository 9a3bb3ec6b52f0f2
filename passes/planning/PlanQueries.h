//===- PlanQueries.h - Queries about plans with other settings --------------------------------===//

#ifndef MTC_PASSES_PLANNING_PLANQUERIES_H
#define MTC_PASSES_PLANNING_PLANQUERIES_H

#include "passes/planning/Planner.h"

namespace mtc {

struct MemoryPlan;

/// The benefit of a technique or an optional pass: the plan without it less the plan with it, all
/// other settings equal.
struct Benefit {
  std::string name; ///< Technique, or argument of --skip-pass.
  int64_t savesBytes;
  int64_t costsFlops; ///< Per update; negative if it reduces them.
  double costsSeconds;
};

/// A plan for one budget.
struct CurvePoint {
  int64_t peak;
  double seconds;
};

/// Flags that lower the peak memory of a program, and the peak with these flags.
struct Suggestion {
  std::string flags;
  Effect effect;
  int64_t peak;
};

/// Flags that may help a program which exceeds the budget.
struct Suggestions {
  std::vector<Suggestion> known;
  /// Whether no flags of techniques can meet the budget: a lower bound exceeds it, and no
  /// suggestion was searched for.
  bool isHopeless = false;
};

/// Answers queries about plans of one model with settings near the given ones. A query that runs
/// out of time has the answers known by then.
class PlanQueries {
public:
  explicit PlanQueries(Planner &planner) : planner(planner), given(planner.getGiven()) {}

  /// Returns the plan of the largest batch, to 1/32 of it, that fits the budget of the settings, or
  /// nothing if not even one sample fits. The model must have a batch dimension.
  std::optional<Plan> findLargestBatch();
  /// Returns plans for budgets between the minimum peak and the peak without a budget, evenly
  /// spaced, by decreasing peak and without plans that another one dominates.
  std::vector<CurvePoint> findCurve();
  /// Measures the techniques that the settings use, and the optional passes. Techniques that change
  /// neither the peak nor the time are omitted. Passes are measured without a budget and without
  /// recomputation.
  std::vector<Benefit> measureBenefits();
  /// Returns the changes that the user has not made and whose plans for the budget need less than
  /// the peak of `plan`. Changes with the smallest effect on results come first. If no change meets
  /// the budget, all changes together are the last entry. If one change meets the budget, the
  /// changes that cannot meet it by the lower bound of `plan` are not tried.
  Suggestions findSuggestions(const MemoryPlan &plan);

private:
  Planner &planner;
  PlanSettings given;
};

/// Returns the index of the knee, after which further memory savings become disproportionately
/// expensive: the point farthest below the line between the first and last points (Satopää et al.,
/// "Finding a 'Kneedle' in a Haystack", 2011). Returns nothing if there are fewer than three
/// points, or if none is below the line.
std::optional<size_t> findKnee(llvm::ArrayRef<CurvePoint> curve);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLANQUERIES_H
