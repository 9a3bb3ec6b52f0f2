//===- OverlapPasses.td - Overlap of exchanges with computation -------------------------------===//

#ifndef MTC_PASSES_OVERLAP
#define MTC_PASSES_OVERLAP

include "mlir/Pass/PassBase.td"

def OverlapExchanges : Pass<"mtc-overlap-exchanges", "::mlir::ModuleOp"> {
  let summary = "reorder operations to overlap exchanges between ranks with computation";
  let description = [{
    Simulates each function with the estimated times of operations and of exchanges between ranks. Where an operation would wait for
    an exchange, the pass moves independent operations between the two: the gradient of a layer's weights does not depend on the
    exchange of the gradient of its input. An exchange whose operands are known starts early enough to end before its first use.
    `mtc.hold` keeps other operations from reusing the memory of sent values meanwhile. The arena does not grow, except up to the
    budget. The operands and the computation of each operation do not change, so results are bit-identical.

    ```mlir
    %rows = mtc.all_to_all %dx pieces [4096] : tensor<512x16xf32> -> tensor<2x4096xf32>
    %sum = mtc.kernel … (%rows)
    %dw = mtc.contract %x, %dy …
    // becomes
    %rows = mtc.all_to_all %dx pieces [4096] : tensor<512x16xf32> -> tensor<2x4096xf32>
    %dw = mtc.contract %x, %dy …
    mtc.hold %dx : tensor<512x16xf32>
    %sum = mtc.kernel … (%rows)
    ```
  }];
  let options = [Option<"memory", "memory", "int64_t", "0",
                        "memory budget of the arena in bytes; 0: none">];
  let statistics = [Statistic<"moves", "moves", "moves of operations and holds">];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_OVERLAP
