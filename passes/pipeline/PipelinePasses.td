//===- PipelinePasses.td - Pipeline stages --------------------------------------------------------===//

#ifndef MTC_PASSES_PIPELINE_PASSES
#define MTC_PASSES_PIPELINE_PASSES

include "mlir/Pass/PassBase.td"

def CutStages : Pass<"mtc-cut-stages", "::mlir::ModuleOp"> {
  let summary = "divide a program into pipeline stages";
  let description = [{
    Replaces the module of a program with several stages (`pipeline` of `#mtc.ranks`) by one module for each stage, `@stage0`, `@stage1`,
    …, which the module contains. The pass follows autodiff and the division of layers, and precedes `mtc-optimizer`, so that each stage
    updates its own variables.

    The forward part of `@micro_step` is cut where few bytes cross, such that the time of the slowest stage is minimal (`StageCuts`). The
    variables of a stage are those that its operations use; the backward part and the other functions follow from the variables
    (`StagePlacement`). Cheap functions of inputs and constants are repeated in each stage that uses them. Other values that a stage
    needs of another one arrive in variables of role `slot` (`mtc.message`). A stage has as many copies of its slots as micro-steps are
    in progress on it, and its tasks in `mtc.tasks` (`TaskOrder`). `@micro_step.backward`, into which `mtc-split-micro-steps` moves the
    backward part, is a task of its own on all stages but the last one, which computes the loss.

    ```mlir
    func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}) {
      %w1 = mtc.read @w1 : tensor<8x8xf32>
      %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %w2 = mtc.read @w2 : tensor<8x2xf32>
      %y = mtc.contract %h, %w2 batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
      …
    // becomes, in @stage0:
      mtc.message sent channel 0 [@mtc.slot.micro_step.0.0] stage 1
      func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}) {
        %w1 = mtc.read @w1 : tensor<8x8xf32>
        %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
        mtc.write @mtc.slot.micro_step.0.0, %h : tensor<4x8xf32>
        …
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

#endif // MTC_PASSES_PIPELINE_PASSES
