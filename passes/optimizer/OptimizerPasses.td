//===- OptimizerPasses.td - The update of the parameters -------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PASSES
#define MTC_PASSES_OPTIMIZER_PASSES

include "mlir/Pass/PassBase.td"

def Optimizer : Pass<"mtc-optimizer", "::mlir::ModuleOp"> {
  let summary = "generate the optimizer's update of every parameter";
  let description = [{
    Adds `@update`, and the optimizer's state as variables of role `optimizer`. Parameters of one element type, optimizer
    and numbers form a group; where the optimizer is elementwise it is updated as one flat tensor, otherwise one parameter
    after another. Learning rate and step number are variables of role `scalar`, which the runtime sets:
    `@mtc.learning_rate`, f64 whatever the parameters are, and `@mtc.step`, counted from 1. `mtc.program` says what was
    chosen, and after which schedule the runtime sets the rate.

    An optimizer that is for some parameters only, as `muon` for the matrices of hidden layers, leaves the others to another;
    a remark says which. `group` says what holds of the parameters whose names match a pattern.

    Where gradients are sums over several micro-steps, the update leaves them zero, in the kernels that read them. They are
    divided by the part of the targets that counted, `@mtc.target_count` of all, with the factor that clips their norm.

    With `clip-value` each element of the gradients is limited, as by PyTorch's clip_grad_value_. With `clip-norm` the
    gradient of all parameters together is then scaled down to that norm where it is larger, as by clip_grad_norm_. Then, and
    with `grad-norm`, the norm is the result of `@update`, `mtc.gradient_norm`.

    With `ema` each parameter has a variable of role `average`, which starts as the parameter does.

    Where the program scales its loss (`mtc-scale-loss`), gradients are divided by the scale, once for all with what clips their
    norm; what is said of them above holds of the quotients. Each element of each gradient is checked before, in the kernels that
    compute the norm where there are such. If one is not finite, all variables keep their values to the bit, and only the scale and
    its counters change, and accumulated gradients become zero. The scale that the step used and whether the update was skipped
    are the results `mtc.loss_scale` and `mtc.update_skipped`.

    With `optimizer-bits` other than 32 large parameters are updated one after another as lines of their elements, and their
    states have the attribute `mtc.quantization`, for `mtc-quantize-optimizer-state`. Where a state would become infinite or
    NaN, which its block's scale must not be, the element's states become 0 instead and the parameter's element stays as it
    was; as it does where itself would not be finite.

    Its options are those of `OptimizerOptions` (`passes/optimizer/OptimizerOptions.h`), and the numbers of all optimizers:
    those that are not given take the optimizer's own default; one that it does not have is an error.

    ```mlir
    mtc.variable parameter @w : tensor<16xf32> = #mtc.zeros
    mtc.variable gradient @w.grad : tensor<16xf32> = #mtc.zeros of @w
    // gains, with optimizer=sgd:
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
    Every variable that has the attribute `mtc.quantization` becomes two of the same role: its codes, `NAME.codes` (two of 4 bits
    in a byte), and the scales of its blocks, `NAME.scales`. What reads it reads `mtc.dequantize_blocks` of them, what writes it
    writes `mtc.quantize_blocks`, whatever lies between: no optimizer is known here. Kernels fuse all of it into one, in
    which a block stays where it is.

    Where a state is kept because the step is skipped, so are its codes and scales.

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
    Takes `@update` apart, and puts each parameter's update behind its gradient in `@micro_step`, behind the
    last use of the old value too. Then a gradient lives from where it is computed to the update, and no variable holds
    it. The smallest of those that are updated as flat tensors, biases and scales, stay in `@update`, where one kernel updates them all: their gradients
    together take at most 1/256 of the parameters' bytes, and each kernel costs a launch. What `@micro_step` was is kept as `@gradients`, for who wants the gradients themselves:
    their variables become transient, and have a place only while that function runs.

    The update stays apart where a parameter's needs more than its own gradient (clipping by the norm of all, loss scaling), or
    where gradients are summed over micro-steps; a remark says so.

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
