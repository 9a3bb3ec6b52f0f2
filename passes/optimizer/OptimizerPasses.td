//===- OptimizerPasses.td - Generation of the parameter update --------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PASSES
#define MTC_PASSES_OPTIMIZER_PASSES

include "mlir/Pass/PassBase.td"

def Optimizer : Pass<"mtc-optimizer", "::mlir::ModuleOp"> {
  let summary = "generate the optimizer's update of every parameter";
  let description = [{
    Adds the function `@update` and the optimizer state as variables of role `optimizer`. Parameters with the same element type,
    optimizer and hyperparameters form a group. The group is updated as one flat tensor if the optimizer is elementwise, and one
    parameter after another otherwise. The learning rate and the step number are variables of role `scalar` that the runtime sets:
    `@mtc.learning_rate`, always f64, and `@mtc.step`, counted from 1. `mtc.program` records the optimizer and the learning-rate
    schedule that the runtime follows.

    An optimizer may support only some parameters, as `muon` supports only the matrices of hidden layers. The remaining parameters
    use the fallback optimizer of its record, and a remark lists them. `group` overrides settings for the parameters whose names
    match a pattern.

    If gradients are accumulated over several micro-steps, the update also resets them to zero, in the kernels that read them.
    Accumulated gradients are divided by the fraction of targets that counted, `@mtc.target_count` out of all targets. This
    division and the clipping factor are one multiplication.

    `clip-value` clips each element of the gradients, as PyTorch's `clip_grad_value_` does. `clip-norm` then scales all gradients
    such that their global norm is at most the given value, as `clip_grad_norm_` does. With `clip-norm` or `grad-norm`, `@update`
    returns the norm before scaling as `mtc.gradient_norm`.

    `ema` adds a variable of role `average` for each parameter, initialized to the parameter.

    If the program scales its loss (`mtc-scale-loss`), gradients are divided by the scale, in the same multiplication as norm
    clipping; clipping applies to the unscaled gradients. Before the update, each element of each gradient is checked, in the
    kernels that compute the norm if there are any. If an element is not finite, all variables keep their values bit for bit,
    except that the scale and its counters change and accumulated gradients are reset to zero. `@update` returns the scale of the
    step as `mtc.loss_scale` and whether the update was skipped as `mtc.update_skipped`.

    With `optimizer-bits` other than 32, large parameters are updated one after another as one-dimensional tensors, and their
    states have the attribute `mtc.quantization` for `mtc-quantize-optimizer-state`. If an element of a state would become
    infinite or NaN, which would corrupt the scale of its whole block, the element's states become 0 and the parameter's element
    does not change. The parameter's element also does not change if its new value would not be finite.

    The options are those of `OptimizerOptions` (`passes/optimizer/OptimizerOptions.h`) and the hyperparameters of all optimizers.
    A hyperparameter that is not given has the optimizer's default; giving one that the optimizer does not have is an error.

    ```mlir
    mtc.variable parameter @w : tensor<16xf32> = #mtc.zeros
    mtc.variable gradient @w.grad : tensor<16xf32> = #mtc.zeros of @w
    // with optimizer=sgd, adds:
    mtc.variable scalar @mtc.learning_rate : tensor<f64> = #mtc.scalar<learning_rate>
    func.func @update() {
      %p = mtc.read_flat [@w] : tensor<16xf32>
      %g = mtc.read_flat [@w.grad] : tensor<16xf32>
      %lr = mtc.read @mtc.learning_rate : tensor<f64>
      …
      %new = mtc.sub %p, %change : tensor<16xf32>
      mtc.write_flat [@w], %new : tensor<16xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

def QuantizeOptimizerState : Pass<"mtc-quantize-optimizer-state", "::mlir::ModuleOp"> {
  let summary = "quantize optimizer state blockwise";
  let description = [{
    Replaces each variable with the attribute `mtc.quantization` by two variables of the same role: the codes `NAME.codes`, with
    two 4-bit codes per byte, and the per-block scales `NAME.scales`. Reads become `mtc.dequantize_blocks` of both variables, and
    writes become `mtc.quantize_blocks`. The pass does not depend on the optimizer. Fusion merges dequantization, update and
    quantization into one kernel, so the dequantized state is not stored to memory.

    Blocks have the map's length. If the parameter has `mtc.chunks`, a block has the largest power of two of elements that divides the
    runs of chunks, at most the map's length, so that no rank has a part of a block. Codes are then rows of blocks.

    If a skipped step keeps the old state, its codes and scales are kept as well.

    ```mlir
    mtc.variable optimizer @w.velocity : tensor<64x64xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<dynamic8>}
    func.func @update() {
      %v = mtc.read @w.velocity : tensor<64x64xf32>
    // becomes
    mtc.variable optimizer @w.velocity.codes : tensor<4096xui8> = #mtc.zeros of @w
    mtc.variable optimizer @w.velocity.scales : tensor<16xf32> = #mtc.zeros of @w
    func.func @update() {
      %c = mtc.read @w.velocity.codes : tensor<4096xui8>
      %s = mtc.read @w.velocity.scales : tensor<16xf32>
      %l = mtc.dequantize_blocks %c, %s by <dynamic8> : tensor<4096xui8>, tensor<16xf32> -> tensor<4096xf32>
      %v = mtc.reshape %l : tensor<4096xf32> -> tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FuseUpdate : Pass<"mtc-fuse-update", "::mlir::ModuleOp"> {
  let summary = "update each large parameter as soon as its gradient is computed";
  let description = [{
    Splits `@update` and moves each parameter's update into `@micro_step`, after the parameter's gradient and after the last use
    of its old value. A gradient is then live only from its computation to its update and is not stored in a variable. The
    smallest parameters that are updated as flat tensors, such as biases and normalization scales, stay in `@update`, where one
    kernel updates all of them, because each kernel costs a launch. Their gradients take at most 1/256 of the parameters' bytes.
    The original `@micro_step` is kept as `@gradients` for runs that return the gradients. Gradient variables become transient and
    are allocated only while that function runs.

    The pass does nothing, and emits a remark, if a parameter's update depends on more than its own gradient (global norm
    clipping, loss scaling), or if gradients are accumulated over micro-steps.

    ```mlir
    func.func @micro_step() {
      mtc.write @w.grad, %g : tensor<16xf32>
    }
    // becomes
    func.func @micro_step() {
      %w = mtc.read @w : tensor<16xf32>
      %s = mtc.mul %g, %rate : tensor<16xf32>
      %n = mtc.sub %w, %s : tensor<16xf32>
      mtc.write @w, %n : tensor<16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_OPTIMIZER_PASSES
