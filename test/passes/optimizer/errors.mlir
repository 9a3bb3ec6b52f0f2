// RUN: split-file %s %t
// RUN: mtc-opt %t/unknown.mlir --verify-diagnostics --mtc-optimizer=optimizer=rprop
// RUN: mtc-opt %t/irrelevant.mlir --verify-diagnostics --mtc-optimizer="optimizer=sgd beta1=0.5"
// RUN: mtc-opt %t/range.mlir --verify-diagnostics --mtc-optimizer=beta2=1
// RUN: mtc-opt %t/negative.mlir --verify-diagnostics --mtc-optimizer=lr=-1
// RUN: mtc-opt %t/gradient.mlir --verify-diagnostics --mtc-optimizer
// RUN: mtc-opt %t/narrow.mlir --verify-diagnostics --mtc-optimizer
// RUN: mtc-opt %t/clip.mlir --verify-diagnostics --mtc-optimizer=clip-norm=0

//--- unknown.mlir
// expected-error-re @below {{--optimizer rprop: invalid value; expected one of: adafactor, {{.*}}, momentum}}
module {}

//--- irrelevant.mlir
// expected-error @below {{--betas 0.5: optimizer 'sgd' has no beta1; its settings are: lr, weight-decay}}
module {}

//--- range.mlir
// expected-error @below {{--betas 1: beta2 of adamw must be at least 0 and less than 1}}
module {}

//--- negative.mlir
// expected-error @below {{--lr -1: lr of adamw must be at least 0 and less than 3.4e+38}}
module {}

//--- gradient.mlir
// expected-error @below {{parameter 'w' has no gradient; run mtc-autodiff first}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros

//--- narrow.mlir
// expected-error @below {{parameter 'w' is tensor<4xf16>; expected f32 or f64}}
mtc.variable parameter @w : tensor<4xf16> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf16> = #mtc.zeros of @w

//--- clip.mlir
// expected-error @below {{--clip-norm 0: expected a norm greater than 0}}
module {}
