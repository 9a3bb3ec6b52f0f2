//===- OverlapPasses.td - Overlap of copies and exchanges with computation --------------------===//

#ifndef MTC_PASSES_OVERLAP
#define MTC_PASSES_OVERLAP

include "mlir/Pass/PassBase.td"

def TileExchanges : Pass<"mtc-tile-exchanges", "::mlir::ModuleOp"> {
  let summary = "divide exchanged contractions into tiles of rows";
  let description = [{
    A contraction whose result is exchanged within a tensor or context group is computed in tiles of its rows, each of which is
    exchanged while the next one is computed. A contraction of gathered rows begins when the first tile has arrived. A tile consists
    of rows of the piece of each rank, so that pieces stay the same. Contracted axes are not divided.

    By default, the cost model chooses up to 4 tiles for each exchange, if these take at least 5 % less time with the figures of the
    network and of the target. Contractions with the same operands, which `mtc-overlap-exchanges` can move, count as overlap.

    ```mlir
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<512x16xf32>, tensor<16x16xf32> -> tensor<512x16xf32>
    %rows = mtc.all_to_all %y pieces [4096] : tensor<512x16xf32> -> tensor<2x4096xf32>
    // becomes
    %0 = mtc.slice %x3 offsets [0, 0, 0] strides [1, 1, 1] : tensor<2x2x2048xf32> -> tensor<2x1x2048xf32>
    %y0 = mtc.contract %x0, %w batch [] x [] over [1] x [0] : tensor<256x16xf32>, tensor<16x16xf32> -> tensor<256x16xf32>
    %r0 = mtc.all_to_all %f0 pieces [2048] : tensor<4096xf32> -> tensor<2x2048xf32>
    …
    %rows = mtc.concatenate %r0, %r1 axis 1 : (tensor<2x2048xf32>, tensor<2x2048xf32>) -> tensor<2x4096xf32>
    ```
  }];
  let options = [Option<"tiles", "tiles", "int64_t", "0",
                        "number of tiles; 0: those with the shortest estimated time">];
  let statistics = [Statistic<"exchanges", "exchanges", "exchanges in tiles">];
  let dependentDialects = ["::mtc::MtcDialect"];
}

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

def OverlapCopies : Pass<"mtc-overlap-copies", "::mlir::ModuleOp"> {
  let summary = "overlap copies, transfers and kernels on the host with computation";
  let description = [{
    Turns the copies of an allocated step between two memory spaces into asynchronous copies: stream 1 copies to the device,
    stream 2 copies from the device. Launches of kernels on the host become asynchronous on stream 4, and copies of their results
    to the device are on stream 5. A copy to the device starts as early as other accesses to its slices permit. Of several copies
    that could start, the one that is needed first does: a simulation with the cost model determines their order. Later operations
    that access these slices wait for the copy's token. Transfers between ranks become asynchronous on stream 3, in their order.

    ```mlir
    mtc.launch @kernel_0 ...
    mtc.copy <0, tensor<16xf32>, disk> into <0, tensor<16xf32>>
    mtc.launch @kernel_1 [<0, tensor<16xf32>>] into [<0, tensor<16xf32>>]
    mtc.copy <0, tensor<16xf32>> into <0, tensor<16xf32>, disk>
    // becomes
    %in = mtc.async_copy <0, tensor<16xf32>, disk> into <0, tensor<16xf32>> stream 1
    mtc.launch @kernel_0 ...
    mtc.launch @kernel_1 [<0, tensor<16xf32>>] into [<0, tensor<16xf32>>] after %in
    %out = mtc.async_copy <0, tensor<16xf32>> into <0, tensor<16xf32>, disk> stream 2
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_OVERLAP
