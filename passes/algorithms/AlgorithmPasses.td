//===- AlgorithmPasses.td - Algorithms of library calls -----------------------------------------===//

#ifndef MTC_PASSES_ALGORITHMS_PASSES
#define MTC_PASSES_ALGORITHMS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseAlgorithms : Pass<"mtc-choose-algorithms", "::mlir::func::FuncOp"> {
  let summary = "compute large library calls by the fastest algorithms of this machine";
  let description = [{
    A library is up to three times slower on some layouts than on others of the same shape; which these are differs by processor.
    The target measures large contractions and convolutions, and this pass marks those that it computes faster by another algorithm than
    from the operands as stored: with a copy of an operand in the layout that the library prefers, or by the runtime's own
    code. The algorithm determines the scratch memory of the call and the rounding of its sums. Only the target `cpu` has
    several algorithms.

    The operation records the algorithm and its speedup, from which `mtc-fit` decides which calls read their operands as stored if
    the scratch memory does not fit. Remarks of the category `mtc-choose-algorithms` report both.

    ```mlir
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<1024x768xf32>, tensor<768x3072xf32> -> tensor<1024x3072xf32>
    // becomes
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] {mtc.algorithm = #mtc<call_algorithm own_panels, speedup = 1.250000e+00 : f64>} : …
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_ALGORITHMS_PASSES
