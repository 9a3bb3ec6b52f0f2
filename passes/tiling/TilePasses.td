//===- TilePasses.td - Memory-centric tiling --------------------------------------------------===//

#ifndef MTC_PASSES_TILING
#define MTC_PASSES_TILING

include "mlir/Pass/PassBase.td"

def TilePass : Pass<"mtc-tile", "::mlir::ModuleOp"> {
  let summary = "tile large values";
  let description = [{
    Computes a large value that is live at the peak in tiles of its rows, together with the operations that produce and use it,
    one tile after another. Only one tile of the value, and of similar values, is then live at a time. Results that are used by
    other operations are assembled from their tiles in place, or summed over the tiles. This computes the logits of a language
    model, their loss and both of their gradients for a part of the tokens at a time (chunked cross-entropy, as in the fused
    linear cross-entropy of Liger Kernel; Hsu et al., 2024), and similarly the wide intermediate values of a layer (tiled MLP of
    ALST; Bekman et al., 2025). Operations describe how they can be tiled by `TileableOpInterface`. With `tile=all`, every tiling
    that lowers the peak is applied, until the step time grows by half for the last 1/32 of the memory. `auto` is handled by
    `mtc-fit`.

    ```mlir
    %y = mtc.contract %x, %w ... : tensor<64x32xf32>, tensor<32x4096xf32> -> tensor<64x4096xf32>
    %z = mtc.contract %y, %v ... : tensor<64x4096xf32>, tensor<4096x32xf32> -> tensor<64x32xf32>
    // becomes
    %x0 = mtc.tile %x from 0 : tensor<64x32xf32> -> tensor<32x32xf32>
    %y0 = mtc.contract %x0, %w ...
    %z0 = mtc.contract %y0, %v ...
    %x1 = mtc.tile %x from 1024 : tensor<64x32xf32> -> tensor<32x32xf32>
    %y1 = mtc.contract %x1, %w ...
    %z1 = mtc.contract %y1, %v ...
    %z = mtc.assemble %z0, %z1 : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_TILING
