//===- PlanSearch.h - Searches for plans of a compilation -------------------------------------===//

#ifndef MTC_DRIVER_PLANSEARCH_H
#define MTC_DRIVER_PLANSEARCH_H

#include "driver/Compilation.h"
#include "passes/planning/Planner.h"

#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// Searches for the largest batch (`--fit-batch`) or, if `--allow` names techniques, for the
/// fastest plan within `--memory`, and sets the options to it. Returns the compilation of the
/// options, which has reached the last stage if the search has, or null after reporting an error.
std::unique_ptr<Compilation> choosePlan(Options &options);

/// Answers questions about other plans of an imported compilation.
class PlanQuestions {
public:
  PlanQuestions(const Options &options, Compilation &compilation)
      : options(options), compilation(compilation) {}

  std::vector<CurvePoint> findCurve();
  std::vector<Worth> measureTechniques();
  /// Returns nothing if the model is a stage's text, for which these flags are already decided.
  Remedies findRemedies(const MemoryPlan &plan);

private:
  const Options &options;
  Compilation &compilation;
};

/// Returns the techniques by which the budget was met, with what they change in the results.
llvm::json::Array usedTechniques(mlir::ModuleOp allocated);
/// Returns "recompute (bit-identical); tile (sums in another order)"; "" if there are none.
std::string describeUsedTechniques(mlir::ModuleOp allocated);

/// Returns "lower peaks: 1.25 GiB with --precision bf16, …", that there cannot be remedies, or an
/// empty string if none was found.
std::string describe(const Remedies &remedies);
llvm::json::Array toJson(llvm::ArrayRef<Remedy> remedies);
llvm::json::Array toJson(llvm::ArrayRef<Worth> techniques);
/// Adds `curve` and, if there is a knee, `knee_bytes`.
void addJson(llvm::ArrayRef<CurvePoint> curve, llvm::json::Object &object);
void print(llvm::ArrayRef<Worth> techniques, llvm::raw_ostream &stream);
void print(llvm::ArrayRef<CurvePoint> curve, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANSEARCH_H
