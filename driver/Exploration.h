//===- Exploration.h - Plans beside the one that is taken -------------------------------------===//

#ifndef MTC_DRIVER_EXPLORATION_H
#define MTC_DRIVER_EXPLORATION_H

#include "driver/Compilation.h"

#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// What an optimization is worth: the plan without it, less the plan with it, nothing else changed.
struct Technique {
  std::string name; ///< as --skip-pass names it; "recompute" for --recompute
  int64_t savesBytes;
  int64_t costsFlops; ///< of a step; less than 0 where it saves them
  double costsSeconds;
};

/// A plan for a budget.
struct CurvePoint {
  int64_t peak;
  double seconds; ///< of a step
};

/// Finds what each optimization saves and costs that the compilation did not do without. What
/// --recompute does is measured against the plan without it, all else in the latter. Those that
/// change neither peak nor time are left out. The compilation keeps its stages, and is allocated.
std::vector<Technique> measureTechniques(const Options &options, Compilation &compilation);

/// Plans for budgets, evenly spaced from what no budget lowers to the peak without one; the highest
/// peak first, each once.
std::vector<CurvePoint> findCurve(const Options &options, Compilation &compilation);

/// The point from which on less memory costs the most time for its bytes: the one farthest below
/// the line from the first to the last (Satopää et al., "Finding a 'Kneedle' in a Haystack", 2011).
/// None where there are fewer than three, or none is below.
std::optional<size_t> findKnee(llvm::ArrayRef<CurvePoint> curve);

llvm::json::Array toJson(llvm::ArrayRef<Technique> techniques);
/// Adds `curve` and, where there is one, `knee_bytes`.
void addJson(llvm::ArrayRef<CurvePoint> curve, llvm::json::Object &object);
void print(llvm::ArrayRef<Technique> techniques, llvm::raw_ostream &stream);
void print(llvm::ArrayRef<CurvePoint> curve, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_EXPLORATION_H
