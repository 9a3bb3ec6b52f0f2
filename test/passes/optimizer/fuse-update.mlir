// RUN: mtc-opt %s --split-input-file --pass-pipeline='builtin.module(mtc-autodiff,mtc-optimizer{optimizer=momentum lr=0.1 weight-decay=0.01},mtc-fuse-update,mtc-simplify)' | FileCheck %s
// RUN: mtc-opt %s --split-input-file --pass-pipeline='builtin.module(mtc-autodiff,mtc-optimizer{optimizer=sgd clip-norm=1.0},mtc-fuse-update)' --remarks-filter=mtc-fuse-update --remark-policy=all 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: mtc-opt %s --split-input-file --pass-pipeline='builtin.module(mtc-scale-loss{loss-scale=1024},mtc-autodiff,mtc-optimizer{optimizer=sgd},mtc-fuse-update)' --remarks-filter=mtc-fuse-update --remark-policy=all 2>&1 | FileCheck %s --check-prefix=SCALED

// The update of each parameter follows its gradient and the last use of its old value. @w is read once more for the gradient of @v. Only
// @gradients uses the gradients' variables.
// CHECK-DAG: mtc.variable gradient transient @w.grad
// CHECK-DAG: mtc.variable gradient transient @v.grad
// CHECK-LABEL: func.func @micro_step
// CHECK-NOT: .grad
// CHECK-DAG: mtc.write @w.velocity
// CHECK-DAG: mtc.write @w,
// CHECK-DAG: mtc.write @v.velocity
// CHECK-DAG: mtc.write @v,
// CHECK: return
// CHECK-LABEL: func.func @gradients
// CHECK-DAG: mtc.write @w.grad
// CHECK-DAG: mtc.write @v.grad
// CHECK-LABEL: func.func @update() {
// CHECK-NEXT: return

// CLIP: update-apart {{.*}}the update of one parameter depends on another's gradient
// CLIP: func.func @micro_step
// CLIP: mtc.write @w.grad
// CLIP-NOT: func.func @gradients
// CLIP: func.func @update
// CLIP: mtc.write_flat

// SCALED: update-apart {{.*}}the loss is scaled, so all gradients decide whether the step is skipped
// SCALED: mtc.write @w.grad
// SCALED-NOT: func.func @gradients

mtc.variable parameter @w : tensor<4x8xf32> = #mtc.zeros
mtc.variable parameter @v : tensor<f32> = #mtc.zeros
func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4x8xf32>
  %v = mtc.read @v : tensor<f32>
  %p = mtc.mul %w, %x : tensor<4x8xf32>
  %b = mtc.broadcast %v axes [0, 1] : tensor<f32> -> tensor<4x8xf32>
  %q = mtc.mul %p, %b : tensor<4x8xf32>
  %l = mtc.reduce add %q axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A parameter that is itself the result must outlive the update, which stays separate.
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.write @w.grad
// CHECK-NOT: func.func @gradients
// CHECK: mtc.write_flat
mtc.variable parameter @w : tensor<1xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<1xf32>
  %l = mtc.reshape %w : tensor<1xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// For two biases and a weight with 256 times their bytes, one flat update with padding remains for the biases. With momentum and weight
// decay, biases do not decay and so are a separate group.
// CHECK-DAG: mtc.variable gradient transient @w.grad
// CHECK-DAG: mtc.variable gradient @a.grad : tensor<8xf32> = {{[^{]*$}}
// CHECK-DAG: mtc.variable gradient @b.grad : tensor<20xf32> = {{[^{]*$}}
// CHECK-LABEL: func.func @micro_step
// CHECK-DAG: mtc.write @a.grad
// CHECK-DAG: mtc.write @b.grad
// CHECK-DAG: mtc.write @w,
// CHECK-LABEL: func.func @gradients
// CHECK-DAG: mtc.write @w.grad
// CHECK-DAG: mtc.write @a.grad
// CHECK-LABEL: func.func @update() {
// CHECK-DAG: mtc.read_flat [@a, @b] : tensor<48xf32>
// CHECK-DAG: mtc.read_flat [@a.grad, @b.grad] : tensor<48xf32>
// CHECK-DAG: mtc.read_flat [@a.velocity, @b.velocity] : tensor<48xf32>
// CHECK: mtc.write_flat [@a.velocity, @b.velocity]
// CHECK: mtc.write_flat [@a, @b]
// CHECK-NOT: mtc.write_flat
// CHECK: return
mtc.variable parameter @a : tensor<8xf32> = #mtc.zeros
mtc.variable parameter @w : tensor<8x4096xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<20xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x4096xf32> {mtc.name = "x"}, %y: tensor<20xf32> {mtc.name = "y"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<8x4096xf32>
  %a = mtc.read @a : tensor<8xf32>
  %b = mtc.read @b : tensor<20xf32>
  %p = mtc.mul %w, %x : tensor<8x4096xf32>
  %s = mtc.reduce add %p axes [1] : tensor<8x4096xf32> -> tensor<8xf32>
  %q = mtc.mul %s, %a : tensor<8xf32>
  %l = mtc.reduce add %q axes [0] : tensor<8xf32> -> tensor<f32>
  %r = mtc.mul %b, %y : tensor<20xf32>
  %m = mtc.reduce add %r axes [0] : tensor<20xf32> -> tensor<f32>
  %t = mtc.add %l, %m : tensor<f32>
  return %t : tensor<f32>
}
