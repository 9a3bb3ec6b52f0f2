// Tiles do not mix the forward and the backward part of a micro-step, which become two functions: all uses of the gradient follow the message.
//
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-order-micro-steps, mtc-tile{tile=all})' | FileCheck %s

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[A:.*]] = mtc.contract {{.*}} -> tensor<512x256xf32>
// CHECK-NEXT: mtc.tile %[[A]] from 0
// CHECK: %[[Y:.*]] = mtc.assemble
// CHECK-NEXT: mtc.write @out, %[[Y]]
// CHECK-NEXT: %[[G:.*]] = mtc.read @out.grad
// CHECK-NEXT: mtc.tile %[[G]] from 0
mtc.variable parameter @w1 : tensor<64x256xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<256x64xf32> = #mtc.zeros
mtc.variable gradient @w1.grad : tensor<64x256xf32> = #mtc.zeros of @w1
mtc.variable gradient @w2.grad : tensor<256x64xf32> = #mtc.zeros of @w2
mtc.variable slot @in copies 1 : tensor<512x64xf32> = #mtc.zeros
mtc.variable slot @in.grad copies 1 : tensor<512x64xf32> = #mtc.zeros
mtc.variable slot @out copies 1 : tensor<512x64xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 1 : tensor<512x64xf32> = #mtc.zeros
mtc.message channel 0 [@in] stage 0
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
mtc.message sent backward channel 3 [@in.grad] stage 0
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @micro_step() {
  %w1 = mtc.read @w1 : tensor<64x256xf32>
  %w2 = mtc.read @w2 : tensor<256x64xf32>
  %x = mtc.read @in : tensor<512x64xf32>
  %g = mtc.read @out.grad : tensor<512x64xf32>
  %a = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<512x64xf32>, tensor<64x256xf32> -> tensor<512x256xf32>
  %b = mtc.kernel [512, 256](%a) : (tensor<512x256xf32>) -> tensor<512x256xf32> {
  ^bb0(%p: tensor<512x256xf32>):
    %v = mtc.kernel.load %p at #id : tensor<512x256xf32> -> f32
    %s = math.tanh %v : f32
    mtc.kernel.yield %s at [#id] : f32
  }
  %y = mtc.contract %b, %w2 batch [] x [] over [1] x [0] : tensor<512x256xf32>, tensor<256x64xf32> -> tensor<512x64xf32>
  mtc.write @out, %y : tensor<512x64xf32>
  %d = mtc.contract %g, %w2 batch [] x [] over [1] x [1] : tensor<512x64xf32>, tensor<256x64xf32> -> tensor<512x256xf32>
  %e = mtc.kernel [512, 256](%a, %d) : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32> {
  ^bb0(%p: tensor<512x256xf32>, %q: tensor<512x256xf32>):
    %v = mtc.kernel.load %p at #id : tensor<512x256xf32> -> f32
    %u = mtc.kernel.load %q at #id : tensor<512x256xf32> -> f32
    %s = arith.mulf %v, %u : f32
    mtc.kernel.yield %s at [#id] : f32
  }
  %h = mtc.contract %e, %w1 batch [] x [] over [1] x [1] : tensor<512x256xf32>, tensor<64x256xf32> -> tensor<512x64xf32>
  mtc.write @in.grad, %h : tensor<512x64xf32>
  %n = mtc.contract %x, %e batch [] x [] over [0] x [0] : tensor<512x64xf32>, tensor<512x256xf32> -> tensor<64x256xf32>
  mtc.write @w1.grad, %n : tensor<64x256xf32>
  return
}
