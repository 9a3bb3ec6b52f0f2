// The pass adds the state of the loss scale and the initial cotangent. The loss does not change.
//
// RUN: mtc-opt %s --mtc-scale-loss=loss-scale=1024 --mtc-autodiff | FileCheck %s
// RUN: mtc-opt %s --mtc-scale-loss="loss-scale=1.5e-5 loss-scale-window=10" | FileCheck %s --check-prefix=SMALL
// RUN: mtc-opt %s --mtc-scale-loss | FileCheck %s --check-prefix=NONE
// RUN: mtc-opt %s --mtc-scale-loss=loss-scale=none --mtc-autodiff | FileCheck %s --check-prefix=NONE
// RUN: not mtc-opt %s --mtc-scale-loss=loss-scale=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mtc-opt %s --mtc-scale-loss=loss-scale=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mtc-opt %s --mtc-scale-loss=loss-scale=1e39 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not mtc-opt %s --mtc-scale-loss=loss-scale=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not mtc-opt %s --mtc-scale-loss=loss-scale=dynamic 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not mtc-opt %s --mtc-scale-loss="loss-scale=2 loss-scale-window=0" 2>&1 | FileCheck %s --check-prefix=WINDOW

// ZERO: --loss-scale 0: expected none, or a scale from 1.17549e-38 to 8.50706e+37
// NEGATIVE: --loss-scale -1: expected none, or a scale from
// LARGE: --loss-scale 1e39: expected none, or a scale from
// NAN: --loss-scale nan: expected none, or a scale from
// WORD: --loss-scale dynamic: expected none, or a scale from
// WINDOW: --loss-scale-window 0: expected a positive number of steps

// NONE-NOT: loss_scal

// SMALL: mtc.program "model" stage forward loss_scaling <window = 10, min_scale = 1.49{{[0-9]*}}E-5 : f64>
// SMALL: mtc.variable optimizer @mtc.loss_scale : tensor<f32> = dense<1.5{{0*}}e-05> : tensor<f32>

// CHECK: mtc.program "model" stage forward loss_scaling <window = 2000, min_scale = 6.103515625E-5 : f64>
// CHECK: mtc.variable optimizer @mtc.loss_scale : tensor<f32> = dense<1.024000e+03> : tensor<f32>
// CHECK-NEXT: mtc.variable optimizer @mtc.finite_updates : tensor<i64> = dense<0> : tensor<i64>
// CHECK-NEXT: mtc.variable optimizer @mtc.update_count : tensor<i64> = dense<0> : tensor<i64>

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[LOSS:.*]] = mtc.reduce add
// CHECK: %[[SCALE:.*]] = mtc.read @mtc.loss_scale : tensor<f32>
// CHECK: mtc.broadcast %[[SCALE]]
// CHECK: mtc.write @w.grad
// CHECK: return %[[LOSS]]
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4xf32>
  %e = mtc.exp %w : tensor<4xf32>
  %l = mtc.reduce add %e axes [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}
