//===- FitPasses.td - Search within the memory budget -------------------------------------------===//

#ifndef MTC_PASSES_PLANNING
#define MTC_PASSES_PLANNING

include "mlir/Pass/PassBase.td"

def Fit : Pass<"mtc-fit", "::mlir::ModuleOp"> {
  let summary = "search for a plan within the memory budget";
  let description = [{
    Reduces the arena to at most `memory` bytes, if a budget is given, in one search over all techniques whose option is `auto`.
    At the function's peak, each technique proposes the change that frees the most bytes per second of added time; the cheapest
    change is applied, until the function fits or no change lowers its peak. The techniques are documented with `mtc-recompute`,
    `mtc-tile`, `mtc-offload-variables` and `mtc-offload-activations`, which apply the choices that do not depend on the search.
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_PLANNING
