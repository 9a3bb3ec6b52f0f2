//===- CostPasses.td - What a program takes of time -----------------------------------------------===//

#ifndef MTC_PASSES_COST
#define MTC_PASSES_COST

include "mlir/Pass/PassBase.td"

def PrintCost : Pass<"mtc-print-cost", "::mlir::ModuleOp"> {
  let summary = "print the estimated cost of each operation";
  let description = [{
    For a module of kernels and calls, or an allocated one: a line for each operation that runs, with tabs between the function, the
    operation's kind, seconds, floating-point operations, bytes and nodes; then a line for a whole step. The module
    stays as it is; the standard error is written to.

    ```
    micro_step	contraction	6.83e-06	1048576	90112	layers.0/Gemm
    step		1.75e-04	2359296	1083456	calibrated on AMD EPYC, 2 threads
    ```
  }];
}

#endif // MTC_PASSES_COST
