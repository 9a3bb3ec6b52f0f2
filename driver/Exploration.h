//===- Exploration.h - Alternative memory plans -----------------------------------------------===//

#ifndef MTC_DRIVER_EXPLORATION_H
#define MTC_DRIVER_EXPLORATION_H

#include "driver/Compilation.h"

#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// Effect of an optimization: the difference between the plans without it and with it, all other
/// options equal.
struct Technique {
  std::string name; ///< argument of --skip-pass, or "recompute" for --recompute
  int64_t savesBytes;
  int64_t costsFlops; ///< per step; negative if the optimization reduces them
  double costsSeconds;
};

/// Plan for one budget.
struct CurvePoint {
  int64_t peak;
  double seconds; ///< per step
};

/// Measures the memory saved and the time added by each optimization that the compilation did not
/// skip. --recompute is measured against the plan without recomputation, and the other
/// optimizations are measured without recomputation. Optimizations that change neither the peak nor
/// the time are omitted. The compilation must keep its stages and must be allocated.
std::vector<Technique> measureTechniques(const Options &options, Compilation &compilation);

/// Returns plans for budgets between the minimum peak and the peak without a budget, evenly spaced,
/// in order of decreasing peak and without duplicates.
std::vector<CurvePoint> findCurve(const Options &options, Compilation &compilation);

/// Returns the index of the knee, after which further memory savings become disproportionately
/// expensive: the point farthest below the line between the first and last points (Satopää et al.,
/// "Finding a 'Kneedle' in a Haystack", 2011). Returns nothing if there are fewer than three
/// points, or if none is below the line.
std::optional<size_t> findKnee(llvm::ArrayRef<CurvePoint> curve);

llvm::json::Array toJson(llvm::ArrayRef<Technique> techniques);
/// Adds `curve` and, if there is a knee, `knee_bytes`.
void addJson(llvm::ArrayRef<CurvePoint> curve, llvm::json::Object &object);
void print(llvm::ArrayRef<Technique> techniques, llvm::raw_ostream &stream);
void print(llvm::ArrayRef<CurvePoint> curve, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_EXPLORATION_H
