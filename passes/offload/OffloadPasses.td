//===- OffloadPasses.td - Offloading of variables and activations -----------------------------===//

#ifndef MTC_PASSES_OFFLOAD
#define MTC_PASSES_OFFLOAD

include "mlir/Pass/PassBase.td"

def OffloadVariables : Pass<"mtc-offload-variables", "::mlir::ModuleOp"> {
  let summary = "offload variables to another memory space";
  let description = [{
    Moves the optimizer state and weight averages, the parameters, or the gradients, as the option names them, to the memory space
    that the target offloads to. Kernels that write offloaded variables run in windows of their rows. Other users, and kernels that
    cannot run in windows, get the whole variable copied to the device; uses that are far apart get separate copies. Small variables
    are not offloaded, since copying them would cost more than the freed memory is worth. With a budget, only as many variables are
    offloaded as are needed to meet it: first optimizer state, starting with the variables that are updated earliest.

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
    Repeatedly selects a value that is live at the peak and not used there, moves it to the memory space that the target offloads
    to after its last use before the peak, and back to the device before its first use after the peak. Of the values with the
    largest product of bytes and duration, the one that adds the least to the step time is selected, with equal values of equal
    layers. The pass stops when the peak meets the budget or, without a budget, when no candidate is left. Memory is reserved for
    the estimated duration of the copies, so that they overlap with computation. If the peak exceeds the budget with these
    reservations, they are shortened.

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

def ReuseFetches : Pass<"mtc-reuse-fetches", "::mlir::ModuleOp"> {
  let summary = "let updates read parameters that the backward pass has fetched";
  let description = [{
    An offloaded parameter is fetched for its contraction in the backward pass, and its update follows in windows. If the memory
    of the copy remains free until the update, the update reads the parameter from there: its windows then copy the parameter only
    to the other memory space. The size of the arena does not grow.

    ```mlir
    %w = mtc.move %read to device : tensor<256x64xbf16>
    %dx = mtc.contract %dy, %w ...
    %new = mtc.kernel {kind = "…"} (%read, %dw, …)
    mtc.write @w, %new : tensor<256x64xbf16>
    // becomes
    %w = mtc.move %read to device : tensor<256x64xbf16>
    %dx = mtc.contract %dy, %w ...
    %new = mtc.kernel {kind = "…"} (%w, %dw, …)
    mtc.write @w, %new : tensor<256x64xbf16>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_OFFLOAD
