//===- ShardingPasses.td - Training on several ranks --------------------------------------------===//

#ifndef MTC_PASSES_SHARDING_PASSES
#define MTC_PASSES_SHARDING_PASSES

include "mlir/Pass/PassBase.td"

def SetRanks : Pass<"mtc-set-ranks", "::mlir::ModuleOp"> {
  let summary = "set the number of ranks of the program";
  let description = [{
    The options are those of `ShardingOptions` in `passes/sharding/ShardingOptions.h`. Without `ranks`, the pass does nothing.

    ```mlir
    mtc.program "digits" stage forward batch 8 {…}
    // becomes, with ranks=2:
    mtc.program "digits" stage forward batch 8 ranks <count = 2> {…}
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Shard : Pass<"mtc-shard", "::mlir::ModuleOp"> {
  let summary = "exchange gradients and losses between ranks";
  let description = [{
    Each micro-step sends the pieces of its gradients to the ranks that own them. The owner adds them to `@mtc.gradient_sum.N` in the
    order of ranks, which is the order of one process that runs the micro-steps of all ranks. The update gathers the sums. (Divided
    gradients are exchanged by `mtc-optimizer`.) The parts of the loss are added on every rank, in the same order. Running statistics
    are updated on every rank from the statistics of the micro-batches of all ranks, in the same order, too. Gradients travel in
    buckets of at most `bucket-bytes`, each as soon as its last gradient is known. A bucket is added when the next one has been sent,
    so that a transfer overlaps with the backward pass. With `reduce = last`, the update exchanges the gradients that the micro-steps
    have accumulated. Gathers of updated parameters are joined to buckets, too. `mtc.average_over_ranks` is lowered. Without `ranks` in `mtc.program`, the pass does nothing.

    ```mlir
    mtc.write @w.grad, %g : tensor<100xf32>
    // gains, with 2 ranks
    %w = mtc.read @w.grad : tensor<100xf32>
    %rows = mtc.all_to_all %w pieces [256] : tensor<100xf32> -> tensor<2x256xf32>
    %sum = mtc.read @mtc.gradient_sum.0 : tensor<256xf32>
    %first = mtc.add %sum, %row0 : tensor<256xf32>
    %second = mtc.add %first, %row1 : tensor<256xf32>
    mtc.write @mtc.gradient_sum.0, %second : tensor<256xf32>
    // and @update
    %sums = mtc.read @mtc.gradient_sum.0 : tensor<256xf32>
    %piece = mtc.tile %sums from 0 : tensor<256xf32> -> tensor<256xf32>
    %g = mtc.all_gather %piece ranks 2 : tensor<256xf32> -> tensor<100xf32>
    mtc.write @w.grad, %g : tensor<100xf32>
    ```
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "25 << 20", "maximum bytes of a bucket of several gradients">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_SHARDING_PASSES
