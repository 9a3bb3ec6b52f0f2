//===- FitPasses.td - The budget of memory is kept ----------------------------------------------===//

#ifndef MTC_PASSES_FIT
#define MTC_PASSES_FIT

include "mlir/Pass/PassBase.td"

def Fit : Pass<"mtc-fit", "::mlir::ModuleOp"> {
  let summary = "search for a plan within the memory budget";
  let description = [{
    Makes the arena no larger than `memory`, where that is given, by those techniques whose choice is `auto`: one search
    over all of them. At the function's peak each technique offers what frees the most bytes for the least time; the
    cheapest is taken, until the function fits or nothing lowers its peak. What each of them does is written at
    `mtc-recompute` and `mtc-tile`, which make the choices that do not depend on the budget.
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_FIT
