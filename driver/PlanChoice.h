//===- PlanChoice.h - Choice of a plan for a compilation --------------------------------------===//

#ifndef MTC_DRIVER_PLANCHOICE_H
#define MTC_DRIVER_PLANCHOICE_H

#include "driver/Compilation.h"
#include "passes/planning/PlanQueries.h"

#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// Searches for the largest batch (`--fit-batch`) or, if `--allow` names techniques, for the
/// fastest plan within `--memory`, and sets the options to it. Returns the compilation of the
/// options, which has reached the last stage if the search has, or null after reporting an error.
std::unique_ptr<Compilation> choosePlan(Options &options);

/// Answers queries about other plans of an imported compilation.
class CompilationQueries {
public:
  CompilationQueries(const Options &options, Compilation &compilation)
      : options(options), compilation(compilation) {}

  std::vector<CurvePoint> findCurve();
  std::vector<Benefit> measureBenefits();
  /// Returns nothing if the model is a stage's text, for which these flags are already decided.
  Suggestions findSuggestions(const MemoryPlan &plan);

private:
  const Options &options;
  Compilation &compilation;
};

/// Returns the techniques by which the budget was met, with what they change in the results.
llvm::json::Array usedTechniques(mlir::ModuleOp allocated);
/// Returns "recompute (bit-identical); tile (sums in another order)"; "" if there are none.
std::string describeUsedTechniques(mlir::ModuleOp allocated);

/// Returns "lower peaks: 1.25 GiB with --precision bf16, …", that there cannot be suggestions, or
/// an empty string if none was found.
std::string describe(const Suggestions &suggestions);
llvm::json::Array toJson(llvm::ArrayRef<Suggestion> suggestions);
llvm::json::Array toJson(llvm::ArrayRef<Benefit> techniques);
/// Adds `curve` and, if there is a knee, `knee_bytes`.
void addJson(llvm::ArrayRef<CurvePoint> curve, llvm::json::Object &object);
void print(llvm::ArrayRef<Benefit> techniques, llvm::raw_ostream &stream);
void print(llvm::ArrayRef<CurvePoint> curve, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANCHOICE_H
