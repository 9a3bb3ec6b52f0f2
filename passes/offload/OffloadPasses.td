//===- OffloadPasses.td - What leaves memory between its uses -----------------------------------===//

#ifndef MTC_PASSES_OFFLOAD
#define MTC_PASSES_OFFLOAD

include "mlir/Pass/PassBase.td"

def OffloadVariables : Pass<"mtc-offload-variables", "::mlir::ModuleOp"> {
  let summary = "the optimizer's state lies in another space than the device's";
  let description = [{
    Variables that hold the optimizer's state or averages of parameters move to the space that the target offloads to, where
    all that reads and writes them are kernels that can run in windows of their rows. Small ones stay: copies of them would
    cost more than they free. With `offload=auto` the largest move until the peak is within `memory`.

    ```mlir
    mtc.variable optimizer @w.moment1 : tensor<256x64xf32> = #mtc.zeros of @w
    // becomes
    mtc.transfer_slots 4 size 131072
    mtc.variable optimizer @w.moment1 in disk : tensor<256x64xf32> = #mtc.zeros of @w
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_OFFLOAD
