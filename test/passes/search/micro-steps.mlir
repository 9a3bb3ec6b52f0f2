// The backward part of a pipeline stage's micro-step reads %a from a slot with four copies of 16 KiB, at every peak. Recomputing it from the received
// value, which has a slot anyway, frees all of them, and so does offloading it, which needs the value on the device in both parts.
//
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-allocation-pipeline)' | FileCheck %s --check-prefixes=CHECK,SAVED
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-allocation-pipeline{memory=330000})' | FileCheck %s --check-prefixes=CHECK,RECOMPUTED
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-allocation-pipeline{memory=330000 recompute=none offload=activations})' | FileCheck %s --check-prefixes=CHECK,OFFLOADED

// SAVED: mtc.arena size 360448
// SAVED: mtc.variable slot @mtc.slot.micro_step.saved.0 copies 4 : tensor<64x64xf32>
// RECOMPUTED: mtc.arena size 311296
// RECOMPUTED-NOT: saved
// OFFLOADED: mtc.arena size 311296
// OFFLOADED: mtc.arena in disk size 65536
// OFFLOADED: mtc.variable slot @mtc.slot.micro_step.saved.0 copies 4 in disk : tensor<64x64xf32>
// CHECK-LABEL: mtc.step @micro_step reads
// CHECK: mtc.launch @kernel_0
// CHECK-LABEL: mtc.step @micro_step.backward
// SAVED-NOT: mtc.launch
// RECOMPUTED: mtc.launch @kernel_0
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<64x64xf32> = #mtc.zeros of @w
mtc.variable slot @in copies 4 : tensor<64x64xf32> = #mtc.zeros
mtc.variable slot @in.grad copies 4 : tensor<64x64xf32> = #mtc.zeros
mtc.variable slot @out copies 4 : tensor<64x64xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 4 : tensor<64x64xf32> = #mtc.zeros
mtc.message channel 0 [@in] stage 0
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
mtc.message sent backward channel 3 [@in.grad] stage 0
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @micro_step() {
  %w = mtc.read @w : tensor<64x64xf32>
  %x = mtc.read @in : tensor<64x64xf32>
  %a = mtc.kernel [64, 64](%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %v = mtc.kernel.load %p at #id : tensor<64x64xf32> -> f32
    %s = math.tanh %v : f32
    mtc.kernel.yield %s at [#id] : f32
  }
  %y = mtc.contract %a, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  mtc.write @out, %y : tensor<64x64xf32>
  %g = mtc.read @out.grad : tensor<64x64xf32>
  %d = mtc.contract %g, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  mtc.write @in.grad, %d : tensor<64x64xf32>
  %n = mtc.contract %a, %g batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  mtc.write @w.grad, %n : tensor<64x64xf32>
  return
}
