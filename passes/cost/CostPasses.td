//===- CostPasses.td - Cost estimates -------------------------------------------------------------===//

#ifndef MTC_PASSES_COST
#define MTC_PASSES_COST

include "mlir/Pass/PassBase.td"

def PrintCost : Pass<"mtc-print-cost", "::mlir::ModuleOp"> {
  let summary = "print the estimated cost of each operation";
  let description = [{
    Prints one line per operation to stderr, with tab-separated fields: function, kind, seconds, floating-point operations, bytes
    and nodes; then one line for the whole step. Accepts modules of kernels and calls, and allocated modules. The module is not
    changed.

    ```
    micro_step	contraction	6.83e-06	1048576	90112	layers.0/Gemm
    step		1.75e-04	2359296	1083456	calibrated on AMD EPYC, 2 threads
    ```
  }];
}

#endif // MTC_PASSES_COST
