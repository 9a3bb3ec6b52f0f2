//===- TilePasses.td - Values that are never there as a whole ---------------------------------===//

#ifndef MTC_PASSES_TILING
#define MTC_PASSES_TILING

include "mlir/Pass/PassBase.td"

def TilePass : Pass<"mtc-tile", "::mlir::ModuleOp"> {
  let summary = "tile large values";
  let description = [{
    Of what is alive at the peak, a large value is computed in runs of its rows, with the operations that compute and read it, for
    one run after the other: of the value, and of others like it, one tile at a time is there. What others read of
    these operations is assembled of the tiles where it lies, or the sum of what each adds. So the logits of a language
    model, their loss and both their gradients are computed for some tokens at a time (as in Liger kernels' fused linear
    cross-entropy; Hsu et al., 2024), and the wide middle of a layer (tiled MLP of ALST; Bekman et al., 2025). Operations
    say how they are computed in tiles (`TileableOpInterface`). With `tile=all` this is done to all that lowers the peak,
    until a step takes half as long again for 1/32 of it; `auto` is left to `mtc-fit`.

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
