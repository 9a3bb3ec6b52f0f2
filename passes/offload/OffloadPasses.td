//===- OffloadPasses.td - What leaves memory between its uses -----------------------------------===//

#ifndef MTC_PASSES_OFFLOAD
#define MTC_PASSES_OFFLOAD

include "mlir/Pass/PassBase.td"

def OffloadVariables : Pass<"mtc-offload-variables", "::mlir::ModuleOp"> {
  let summary = "offload variables to another memory space";
  let description = [{
    The optimizer's state with averages of parameters, or the parameters themselves, move to the space that the target
    offloads to. Kernels that write them run in windows of their rows; what else reads them, and what cannot run in windows,
    gets them as a whole, for each of its uses anew where these are far apart. Small ones stay: copies of them would cost more
    than they free. With a budget no more move than is needed for the peak to be within it, the optimizer's state first, of that
    what is updated the earliest. `offload=auto` moves nothing else, and nothing without a budget.

    ```mlir
    mtc.variable optimizer @w.moment1 : tensor<256x64xf32> = #mtc.zeros of @w
    // becomes
    mtc.transfer_slots 4 size 131072
    mtc.variable optimizer @w.moment1 in disk : tensor<256x64xf32> = #mtc.zeros of @w
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def OffloadActivations : Pass<"mtc-offload-activations", "::mlir::ModuleOp"> {
  let summary = "offload activations to another memory space";
  let description = [{
    Of what is alive at the peak and not read there, what frees the most bytes for the longest moves to the space that the
    target offloads to behind its last use before the peak, and back in front of its first one behind it; again and again,
    until the peak is within the budget, or as low as moves make it without one. Memory is held for as long as the copies
    are estimated to take, so that they run while other operations do, unless that leaves the peak above the budget.

    ```mlir
    %h = mtc.kernel ...
    ...
    %g = mtc.contract %h, %d ...
    // becomes
    %h = mtc.kernel ...
    %away = mtc.move %h to disk : tensor<64x64xf32>
    ...
    %back = mtc.move %away to device : tensor<64x64xf32>
    ...
    %g = mtc.contract %back, %d ...
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_OFFLOAD
