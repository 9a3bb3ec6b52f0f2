//===- Passes.td - Which inputs hold rows of the data -------------------------------------------===//

#ifndef MTC_FRONTEND_ROWS_PASSES
#define MTC_FRONTEND_ROWS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseRows : Pass<"mtc-choose-rows", "::mlir::ModuleOp"> {
  let summary = "decide of which inputs a step takes rows";
  let description = [{
    Of some inputs of `@micro_step` a step takes rows of the data, and others whole: a mask, the edges of a graph. Those that
    `batch-input` names have rows; where it is empty, the names and extents of first axes decide (`chooseBatchAxis`), on the safe
    side, since rows that are none would be sliced and shuffled. A remark says what is taken whole.

    ```mlir
    mtc.program "model" stage training {
      mtc.input "x" axis "batch"
    }
    // becomes, where @micro_step takes %x: tensor<4x8xf32>:
    mtc.program "model" stage training batch 4 {
      mtc.input "x" axis "batch" rows
    }
    ```
  }];
  let options = [
    ListOption<"batchInputs", "batch-input", "std::string", "inputs whose first axis counts rows; `none`: there are none">,
  ];
}

#endif // MTC_FRONTEND_ROWS_PASSES
