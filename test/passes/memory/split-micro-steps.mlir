// The backward part of a micro-step becomes a function of its own. Values that it reads from the forward part have slots.
//
// RUN: mtc-opt %s -split-input-file -verify-diagnostics --mtc-split-micro-steps | FileCheck %s
// RUN: mtc-opt %s -split-input-file -verify-diagnostics --mtc-split-micro-steps --mtc-allocate | FileCheck %s --check-prefix=ALLOCATED

// The sent value has a slot already. An input is copied. The view of a saved value, the received activation and the parameter are repeated. The running
// value is only accessed by the backward part, which returns it.
// CHECK: mtc.variable slot @mtc.slot.micro_step.saved.0 copies 3 : tensor<16xf32> = #mtc.zeros
// CHECK: mtc.variable slot @mtc.slot.micro_step.saved.1 copies 3 : tensor<16xf32> = #mtc.zeros
// CHECK-NOT: mtc.variable slot
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:.*]]: tensor<16xf32> {mtc.name = "x"})
// CHECK-SAME: {
// CHECK-NEXT: mtc.write @mtc.slot.micro_step.saved.1, %[[X]]
// CHECK-NEXT: %[[W:.*]] = mtc.read @w
// CHECK-NEXT: %[[IN:.*]] = mtc.read @in
// CHECK-NEXT: %[[A:.*]] = mtc.kernel [16](%[[IN]], %[[X]])
// CHECK: mtc.write @mtc.slot.micro_step.saved.0, %[[A]]
// CHECK-NEXT: %[[VIEW:.*]] = mtc.reshape %[[A]]
// CHECK-NEXT: %[[B:.*]] = mtc.kernel [4, 4](%[[VIEW]], %[[W]])
// CHECK: %[[FLAT:.*]] = mtc.reshape %[[B]]
// CHECK-NEXT: mtc.write @out, %[[FLAT]]
// CHECK-NEXT: return
// CHECK-LABEL: func.func @micro_step.backward()
// CHECK-SAME: -> (tensor<4x4xf32> {mtc.name = "y"})
// CHECK-NEXT: %[[G:.*]] = mtc.read @out.grad
// CHECK-NEXT: %[[OUT:.*]] = mtc.read @out
// CHECK-NEXT: %[[B:.*]] = mtc.reshape %[[OUT]] : tensor<16xf32> -> tensor<4x4xf32>
// CHECK-NEXT: %[[A:.*]] = mtc.read @mtc.slot.micro_step.saved.0
// CHECK-NEXT: %[[VIEW:.*]] = mtc.reshape %[[A]]
// CHECK-NEXT: %[[W:.*]] = mtc.read @w
// CHECK-NEXT: %[[D:.*]] = mtc.kernel [4, 4](%[[B]], %[[VIEW]], %[[W]])
// CHECK: %[[IN:.*]] = mtc.read @in
// CHECK-NEXT: %[[X:.*]] = mtc.read @mtc.slot.micro_step.saved.1
// CHECK-NEXT: %[[E:.*]] = mtc.kernel [16](%[[G]], %[[IN]], %[[X]])
// CHECK: mtc.write @in.grad, %[[E]]
// CHECK-NEXT: mtc.read @running
// CHECK: mtc.write @running
// CHECK: return %[[D]]

// The values are computed in their slots, which have an address for each micro-step in progress.
// ALLOCATED: mtc.variable slot @in copies 3 : {{.*}} at [[$IN:[0-9]+]]
// ALLOCATED: mtc.variable slot @out copies 3 : {{.*}} at [[$OUT:[0-9]+]]
// ALLOCATED: mtc.variable slot @mtc.slot.micro_step.saved.0 copies 3 : {{.*}} at [[$A:[0-9]+]]
// ALLOCATED: mtc.variable slot @mtc.slot.micro_step.saved.1 copies 3 : {{.*}} at [[$X:[0-9]+]]
// ALLOCATED-LABEL: mtc.step @micro_step reads
// ALLOCATED: mtc.copy <{{[0-9]+}}, tensor<16xf32>> into <[[$X]], tensor<16xf32>>
// ALLOCATED: mtc.launch {{.*}} into [#mtc.at<[[$A]], tensor<16xf32>>]
// ALLOCATED: mtc.launch {{.*}} into [#mtc.at<[[$OUT]], tensor<4x4xf32>>]
// ALLOCATED-NOT: mtc.copy
// ALLOCATED-LABEL: mtc.step @micro_step.backward
// ALLOCATED: mtc.launch {{.*}}[#mtc.at<[[$OUT]], tensor<4x4xf32>>, #mtc.at<[[$A]], tensor<4x4xf32>>
// ALLOCATED-NOT: mtc.copy
// ALLOCATED: }
mtc.variable parameter @w : tensor<4x4xf32> = #mtc.zeros
mtc.variable state @running : tensor<16xf32> = #mtc.zeros
mtc.variable slot @in copies 3 : tensor<16xf32> = #mtc.zeros
mtc.variable slot @in.grad copies 3 : tensor<16xf32> = #mtc.zeros
mtc.variable slot @out copies 3 : tensor<16xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 3 : tensor<16xf32> = #mtc.zeros
mtc.message channel 0 [@in] stage 0
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
mtc.message sent backward channel 3 [@in.grad] stage 0
#id = affine_map<(d0) -> (d0)>
#back = affine_map<(d0) -> (15 - d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
func.func @micro_step(%x: tensor<16xf32> {mtc.name = "x"}) -> (tensor<4x4xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<4x4xf32>
  %g = mtc.read @out.grad : tensor<16xf32>
  %in = mtc.read @in : tensor<16xf32>
  %a = mtc.kernel [16](%in, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>):
    %v = mtc.kernel.load %p at #back : tensor<16xf32> -> f32
    %u = mtc.kernel.load %q at #id : tensor<16xf32> -> f32
    %s = arith.mulf %v, %u : f32
    mtc.kernel.yield %s at [#id] : f32
  }
  %view = mtc.reshape %a : tensor<16xf32> -> tensor<4x4xf32>
  %b = mtc.kernel [4, 4](%view, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>):
    %v = mtc.kernel.load %p at #tr : tensor<4x4xf32> -> f32
    %u = mtc.kernel.load %q at #id2 : tensor<4x4xf32> -> f32
    %s = arith.mulf %v, %u : f32
    mtc.kernel.yield %s at [#id2] : f32
  }
  %flat = mtc.reshape %b : tensor<4x4xf32> -> tensor<16xf32>
  mtc.write @out, %flat : tensor<16xf32>
  %d = mtc.kernel [4, 4](%b, %view, %w) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>, %r: tensor<4x4xf32>):
    %v = mtc.kernel.load %p at #tr : tensor<4x4xf32> -> f32
    %u = mtc.kernel.load %q at #id2 : tensor<4x4xf32> -> f32
    %t = mtc.kernel.load %r at #id2 : tensor<4x4xf32> -> f32
    %s = arith.mulf %v, %u : f32
    %m = arith.mulf %s, %t : f32
    mtc.kernel.yield %m at [#id2] : f32
  }
  %e = mtc.kernel [16](%g, %in, %x) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>, %r: tensor<16xf32>):
    %v = mtc.kernel.load %p at #back : tensor<16xf32> -> f32
    %u = mtc.kernel.load %q at #id : tensor<16xf32> -> f32
    %t = mtc.kernel.load %r at #id : tensor<16xf32> -> f32
    %s = arith.mulf %v, %u : f32
    %m = arith.mulf %s, %t : f32
    mtc.kernel.yield %m at [#id] : f32
  }
  mtc.write @in.grad, %e : tensor<16xf32>
  %old = mtc.read @running : tensor<16xf32>
  %new = mtc.kernel [16](%old, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>):
    %v = mtc.kernel.load %p at #id : tensor<16xf32> -> f32
    %u = mtc.kernel.load %q at #id : tensor<16xf32> -> f32
    %s = arith.addf %v, %u : f32
    mtc.kernel.yield %s at [#id] : f32
  }
  mtc.write @running, %new : tensor<16xf32>
  return %d : tensor<4x4xf32>
}

// -----

// A stage that receives no gradients keeps one function.
// CHECK-LABEL: func.func @micro_step(
// CHECK-NOT: @micro_step.backward
// ALLOCATED-LABEL: mtc.step @micro_step reads
mtc.variable slot @in copies 2 : tensor<16xf32> = #mtc.zeros
mtc.variable slot @in.grad copies 2 : tensor<16xf32> = #mtc.zeros
mtc.message channel 0 [@in] stage 0
mtc.message sent backward channel 1 [@in.grad] stage 0
func.func @micro_step() {
  %in = mtc.read @in : tensor<16xf32>
  %e = mtc.contract %in, %in batch [] x [] over [0] x [0] : tensor<16xf32>, tensor<16xf32> -> tensor<f32>
  %d = mtc.kernel [16](%in, %e) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<f32>):
    %v = mtc.kernel.load %p at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %u = mtc.kernel.load %q at affine_map<(d0) -> ()> : tensor<f32> -> f32
    %s = arith.mulf %v, %u : f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  mtc.write @in.grad, %d : tensor<16xf32>
  return
}

// -----

// A value that was moved to another memory space has its slot there. Views without users and holds in the backward part need no values.
// CHECK: mtc.variable slot @mtc.slot.micro_step.saved.0 copies 2 in disk : tensor<16x4xf32> = #mtc.zeros
// CHECK-NOT: mtc.variable slot
// CHECK-LABEL: func.func @micro_step(
// CHECK: %[[A:.*]] = mtc.contract
// CHECK-NEXT: %[[AWAY:.*]] = mtc.move %[[A]] to disk
// CHECK-NEXT: mtc.write @mtc.slot.micro_step.saved.0, %[[AWAY]]
// CHECK: mtc.hold %[[A]]
// CHECK: return
// CHECK-LABEL: func.func @micro_step.backward()
// CHECK-NEXT: mtc.read @out.grad
// CHECK-NEXT: %[[AWAY:.*]] = mtc.read @mtc.slot.micro_step.saved.0
// CHECK-NEXT: %[[A:.*]] = mtc.move %[[AWAY]] to device
// CHECK-NEXT: mtc.hold %[[A]] : tensor<16x4xf32>
// CHECK-NEXT: mtc.contract %{{.*}}, %[[A]]
// ALLOCATED: mtc.arena in disk size 8192
// ALLOCATED: mtc.variable slot @mtc.slot.micro_step.saved.0 copies 2 in disk : {{.*}} at 0
// ALLOCATED-LABEL: mtc.step @micro_step reads
// ALLOCATED: mtc.copy <[[$A:[0-9]+]], tensor<16x4xf32>> into <0, tensor<16x4xf32>, disk>
// ALLOCATED-NOT: mtc.copy
// ALLOCATED-LABEL: mtc.step @micro_step.backward
// ALLOCATED: mtc.copy <0, tensor<16x4xf32>, disk> into
// ALLOCATED-NOT: mtc.copy
mtc.variable parameter @w : tensor<4x4xf32> = #mtc.zeros
mtc.variable slot @out copies 2 : tensor<16x4xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 2 : tensor<16x4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4x4xf32> = #mtc.zeros of @w
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
func.func @micro_step(%x: tensor<16x4xf32> {mtc.name = "x"}) {
  %w = mtc.read @w : tensor<4x4xf32>
  %a = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<16x4xf32>, tensor<4x4xf32> -> tensor<16x4xf32>
  %away = mtc.move %a to disk : tensor<16x4xf32>
  %b = mtc.contract %a, %w batch [] x [] over [1] x [0] : tensor<16x4xf32>, tensor<4x4xf32> -> tensor<16x4xf32>
  mtc.hold %a : tensor<16x4xf32>
  mtc.write @out, %b : tensor<16x4xf32>
  %g = mtc.read @out.grad : tensor<16x4xf32>
  %unused = mtc.reshape %b : tensor<16x4xf32> -> tensor<64xf32>
  %back = mtc.move %away to device : tensor<16x4xf32>
  mtc.hold %a, %back : tensor<16x4xf32>, tensor<16x4xf32>
  %d = mtc.contract %g, %back batch [] x [] over [0] x [0] : tensor<16x4xf32>, tensor<16x4xf32> -> tensor<4x4xf32>
  mtc.write @w.grad, %d : tensor<4x4xf32>
  return
}

// -----

mtc.variable slot @out copies 2 : tensor<16xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 2 : tensor<16xf32> = #mtc.zeros
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
func.func @micro_step() {
  // expected-error @+1 {{'mtc.read' op reads the gradient @out.grad of a later stage, on which a message to a later stage depends}}
  %g = mtc.read @out.grad : tensor<16xf32>
  mtc.write @out, %g : tensor<16xf32>
  return
}

// -----

mtc.variable state @running : tensor<16xf32> = #mtc.zeros
mtc.variable slot @out copies 2 : tensor<16xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 2 : tensor<16xf32> = #mtc.zeros
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
func.func @micro_step() {
  // expected-note @+1 {{the forward part accesses it here}}
  %r = mtc.read @running : tensor<16xf32>
  mtc.write @out, %r : tensor<16xf32>
  %g = mtc.read @out.grad : tensor<16xf32>
  // expected-error @+1 {{'mtc.write' op accesses @running in the backward part of a micro-step, and so does the forward part; micro-steps in progress would change each other's value}}
  mtc.write @running, %g : tensor<16xf32>
  return
}
