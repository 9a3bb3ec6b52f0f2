//===- LossPasses.td - From the graph to what is minimized -----------------------------------===//

#ifndef MTC_PASSES_LOSS_PASSES
#define MTC_PASSES_LOSS_PASSES

include "mlir/Pass/PassBase.td"

def AttachLoss : Pass<"mtc-attach-loss", "::mlir::ModuleOp"> {
  let summary = "attach the loss and create the evaluation function";
  let description = [{
    `@forward` is replaced by two functions. `@micro_step` gives the loss alone; `@evaluate` gives the loss, sums for
    each row of the batch (so that a whole file can be averaged exactly) and the graph's outputs, and writes no variable.
    Labels are the graph's input of that name, or else a new argument. `mtc.program` names the loss.

    With `accumulate` the gradients of several micro-steps make an update. The loss that `@micro_step` gives is its part then, the
    sum over its targets divided by all that the micro-steps may have, and `@mtc.loss_sum` the sum of the parts. Where labels may
    be ignored, `@mtc.target_count` counts those that are not. So each target of an update counts alike, in whichever micro-step
    it is. `mtc.program` says so; random bits are those of the micro-step.

    Its options are `loss`, `output`, `labels` and `accumulate` (`LossOptions` in `passes/losses/Loss.h`).

    Losses are PyTorch's: `cross-entropy` is the mean over the labels that are not -100, with the classes on the last
    axis, or on axis 1 where the labels' shape says so; an output of rank 4 and above, whose labels are not in the graph,
    has its classes on axis 1. `causal-lm` is the same over [B, T, V]. `mse`, `l1` and `bce-with-logits` are means over
    all elements. `output` takes the graph's own.

    Cross-entropies apply a softmax and `bce-with-logits` a sigmoid. Where the output is this activation of logits already, in one
    operation or in parts, behind movements and casts, the loss is computed from the logits, which is a remark; `@outputs`
    still returns the output. A softmax of which the classes are cut, or along another axis, is none of these: it stays,
    with a warning.

    The labels' `mtc.input` says which values are valid, from 0 to the number of classes, and of `causal-lm` which input they
    can be made of where they are left out.

    ```mlir
    func.func @forward(%x: tensor<4x8xf32> {mtc.name = "x"}) -> (tensor<4x8xf32> {mtc.name = "y"}) {
      %y = mtc.tanh %x : tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    // becomes, with loss=mse:
    mtc.program "model" stage forward loss "mse" {
      mtc.input "x"
      mtc.input "labels" label
    }
    func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}, %labels: tensor<4x8xf32> {mtc.name = "labels"})
        -> (tensor<f32> {mtc.name = "mtc.loss"})
    func.func @evaluate(%x: tensor<4x8xf32> {mtc.name = "x"}, %labels: tensor<4x8xf32> {mtc.name = "labels"})
        -> (tensor<f32> {mtc.name = "mtc.loss"}, tensor<4xf32> {mtc.name = "mtc.row_loss"},
            tensor<4xf32> {mtc.name = "mtc.row_weight"}, tensor<4x8xf32> {mtc.name = "y"})
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

def SelectMode : Pass<"mtc-select-mode", "::mlir::func::FuncOp"> {
  let summary = "select training or inference mode in each function";
  let description = [{
    `mtc.select_by_mode` becomes its first operand in `@micro_step`, and its second in every other function: `@evaluate` and
    `@outputs` compute no dropout, and normalize by running statistics.

    ```mlir
    %y = mtc.select_by_mode training %dropped inference %x : tensor<4x8xf32>
    mtc.write @z, %y : tensor<4x8xf32>
    // becomes, in @micro_step:
    mtc.write @z, %dropped : tensor<4x8xf32>
    // and in @evaluate:
    mtc.write @z, %x : tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def ScaleLoss : Pass<"mtc-scale-loss", "::mlir::ModuleOp"> {
  let summary = "scale the loss dynamically";
  let description = [{
    Adds the state of dynamic loss scaling, and says in `mtc.program` that there is one. `mtc-autodiff` then computes the gradients
    of the loss times the scale, of which fewer vanish in 16 bits; the loss itself stays as it is. What `mtc-optimizer` writes
    divides gradients by the scale. Where one is not finite the step is skipped: no parameter and no state of an optimizer
    changes, and the scale is halved. After `loss-scale-window` updates in a row it is doubled. `@mtc.update_count` is the step of
    the optimizers' formulas, which skipped steps do not advance. Definitions and defaults are those of PyTorch's GradScaler,
    but for the limits: a scale falls no further than 2^-14, or the first scale, and grows no further than 2^126, so that it and
    its inverse are normal numbers.

    Its options are those of `LossScalingOptions` (`passes/losses/LossScaling.h`). Any scale will do, but multiplying by a power
    of two alone is exact.

    ```mlir
    mtc.program "model" stage forward loss "mse" {
    }
    // becomes, with loss-scale=65536:
    mtc.program "model" stage forward loss "mse" loss_scaling <window = 2000, least = 6.103515625E-5 : f64> {
    }
    mtc.variable optimizer @mtc.loss_scale : tensor<f32> = dense<6.553600e+04> : tensor<f32>
    mtc.variable optimizer @mtc.finite_updates : tensor<i64> = dense<0> : tensor<i64>
    mtc.variable optimizer @mtc.update_count : tensor<i64> = dense<0> : tensor<i64>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_LOSS_PASSES
