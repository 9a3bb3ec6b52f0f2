//===- Passes.td - Batch axis passes ------------------------------------------------------------===//

#ifndef MTC_FRONTEND_BATCHING_PASSES
#define MTC_FRONTEND_BATCHING_PASSES

include "mlir/Pass/PassBase.td"

def ChooseBatchAxis : Pass<"mtc-choose-batch-axis", "::mlir::ModuleOp"> {
  let summary = "determine the inputs with a batch axis";
  let description = [{
    A step reads a batch of samples of some inputs of `@micro_step`, and all of others (a mask, the edges of a graph). Inputs
    named by `batch-input` have a batch axis. If the option is empty, the names and extents of the first axes determine the inputs
    (`chooseBatchAxis`). An ambiguous input is passed whole, because slicing and shuffling an axis of another meaning would corrupt
    the data. A remark lists the inputs that are passed whole.

    ```mlir
    mtc.program "model" stage training {
      mtc.input "x" axis "batch"
    }
    // becomes, if @micro_step has the argument %x: tensor<4x8xf32>:
    mtc.program "model" stage training batch 4 {
      mtc.input "x" axis "batch" rows
    }
    ```
  }];
  let options = [
    ListOption<"batchInputs", "batch-input", "std::string", "inputs whose first axis is the batch axis; `none`: no input">,
  ];
}

#endif // MTC_FRONTEND_BATCHING_PASSES
