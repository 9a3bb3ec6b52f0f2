//===- LossPasses.td - Losses, modes and loss scaling ----------------------------------------===//

#ifndef MTC_PASSES_LOSS_PASSES
#define MTC_PASSES_LOSS_PASSES

include "mlir/Pass/PassBase.td"

def AttachLoss : Pass<"mtc-attach-loss", "::mlir::ModuleOp"> {
  let summary = "attach the loss and create the evaluation function";
  let description = [{
    Replaces `@forward` by three functions. `@micro_step` returns only the loss; `@evaluate` returns the loss and the values of each
    sample from which the loss and the metrics of a whole file are computed (`runtime/abi/row_values.h`), and writes no variable;
    `@outputs` returns the graph's outputs. Labels are the graph input of that name, or a new argument. `mtc.program` records the
    loss.

    With `accumulate`, the gradients of several micro-steps form one update. `@micro_step` then returns its share of the loss, the
    sum over its targets divided by the number of targets of all micro-steps, and accumulates the shares in `@mtc.loss_sum`. If
    labels may be ignored or weighted, `@mtc.target_count` adds the weights of the targets, 0 for ignored ones, and the update
    divides by their sum instead. Thus a target of an update has the same weight in whichever micro-step it is. `mtc.program`
    records the accumulation; random bits are numbered by micro-step.

    The options are `loss`, `output`, `labels`, `accumulate` and parameters of single losses (`passes/losses/LossOptions.h`). A
    parameter that the loss does not use is an error.

    Losses are defined as in PyTorch: `cross-entropy` is the mean over the labels that are not `ignore-index`, with the class axis
    last, or axis 1 if the shape of the labels requires it; for an output of rank 4 and above without labels in the graph, the
    class axis is 1. Labels of a floating-point type and the output's shape are class probabilities. `causal-lm` is cross-entropy
    over [B, T, V]. `kl-div` is the sum over each sample, mean over samples. `ctc` has the batch axis that the labels or inputs
    determine. Elementwise losses are means over all elements. `output` uses the graph output itself.

    Cross-entropies apply a softmax, and `bce-with-logits` a sigmoid. If the output already is this activation of logits, as one
    operation or decomposed, and followed by data movement and casts, the loss is computed from the logits and a remark is
    emitted; `@outputs` still returns the output. A softmax whose classes are sliced, or along another axis, is not replaced, and
    a warning is emitted.

    The `mtc.input` of the labels records their valid values, from 0 to the number of classes, and for `causal-lm` the input from
    which absent labels are derived.

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
            tensor<4xf32> {mtc.name = "mtc.row_weight"}, tensor<4xf32> {mtc.name = "mtc.row_absolute_error"},
            tensor<4xf32> {mtc.name = "mtc.row_squared_error"}, tensor<4xf32> {mtc.name = "mtc.row_label_mean"},
            tensor<4xf32> {mtc.name = "mtc.row_label_deviation"})
    func.func @outputs(%x: tensor<4x8xf32> {mtc.name = "x"}) -> (tensor<4x8xf32> {mtc.name = "y"})
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

def SelectMode : Pass<"mtc-select-mode", "::mlir::func::FuncOp"> {
  let summary = "select training or inference mode in each function";
  let description = [{
    Replaces `mtc.select_by_mode` by its first operand in `@micro_step`, and by its second operand in every other function:
    `@evaluate` and `@outputs` compute no dropout, and normalize by running statistics.

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

def DisableDropout : Pass<"mtc-disable-dropout", "::mlir::ModuleOp"> {
  let summary = "replace dropout by its inference form in training steps";
  let description = [{
    Replaces each `mtc.select_by_mode` of `@micro_step` whose training form draws random numbers by its inference form, and emits a
    warning that names the nodes. Other operations that differ between training and inference, such as batch normalization, keep
    both forms. The pass makes the gradient a function of the inputs, for `mtc grad`.

    ```mlir
    %bits = mtc.random_bits %seed, %step stream 0 : (tensor<i64>, tensor<i64>) -> tensor<4xi32>
    %keep = mtc.compare ge %bits, %threshold : tensor<4xi32> -> tensor<4xi1>
    %dropped = mtc.select %keep, %scaled, %zero : tensor<4xi1>, tensor<4xf32>
    %y = mtc.select_by_mode training %dropped inference %x : tensor<4xf32>
    // becomes: %y is %x
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def ScaleLoss : Pass<"mtc-scale-loss", "::mlir::ModuleOp"> {
  let summary = "scale the loss dynamically";
  let description = [{
    Adds the state of dynamic loss scaling and records it in `mtc.program`. `mtc-autodiff` then computes the gradients of the loss
    times the scale, so that fewer of them underflow in 16 bits; the loss itself is not changed. The code generated by
    `mtc-optimizer` divides gradients by the scale. A step with a gradient that is not finite is skipped: no parameter and no
    optimizer state changes, and the scale is halved. After `loss-scale-window` consecutive updates the scale is doubled.
    `@mtc.update_count` is the step number in the optimizers' formulas, which skipped steps do not advance. Definitions and
    defaults are those of PyTorch's GradScaler, except for the limits: the scale is at least 2^-14, or the initial scale if
    that is smaller, and at most 2^126, so that the scale and its inverse are normal numbers.

    The options are those of `LossScalingOptions` (`passes/losses/LossScaling.h`). Any scale is valid, but only multiplication by
    a power of two is exact.

    ```mlir
    mtc.program "model" stage forward loss "mse" {
    }
    // becomes, with loss-scale=65536:
    mtc.program "model" stage forward loss "mse" loss_scaling <window = 2000, min_scale = 6.103515625E-5 : f64> {
    }
    mtc.variable optimizer @mtc.loss_scale : tensor<f32> = dense<6.553600e+04> : tensor<f32>
    mtc.variable optimizer @mtc.finite_updates : tensor<i64> = dense<0> : tensor<i64>
    mtc.variable optimizer @mtc.update_count : tensor<i64> = dense<0> : tensor<i64>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_LOSS_PASSES
