// RUN: mtc-opt %s -split-input-file -mtc-shard | FileCheck %s

// Each rank computes both updates of @u, which read only variables. Rank 1 computes with the state after the first of these updates.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<3xf32> = #mtc.zeros
mtc.variable state @u : tensor<3xf32> = #mtc.zeros
mtc.variable state @mean : tensor<3xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3xf32> = #mtc.zeros

// CHECK-LABEL: func.func private @state_update
// CHECK-SAME: (%[[OLD:.*]]: tensor<3xf32>, %[[W:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {mtc.body = array<i64: 1, 0>}
// CHECK: %[[NEW:.*]] = mtc.mul %[[OLD]], %[[W]]
// CHECK: return %[[NEW]], %[[OLD]]
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[W:.*]] = mtc.read @w
// CHECK: %[[NUMBER:.*]] = mtc.read @mtc.micro_step
// CHECK: %[[RANK:.*]] = mtc.rem %[[NUMBER]]
// CHECK: %[[U:.*]] = mtc.read @u
// CHECK: %[[ALL:.*]]:2 = mtc.scan @state_update 2 times from(%[[U]]) over() with(%[[W]])
// CHECK: %[[OWN:.*]] = mtc.gather %[[ALL]]#1, %[[RANK]] axis 0 batch 0
// CHECK-NOT: mtc.read @u
// CHECK: %[[NEW:.*]] = mtc.mul %[[OWN]], %[[W]]
// CHECK: mtc.write @u, %[[ALL]]#0
// CHECK: mtc.mul %arg0, %[[NEW]]
// CHECK: mtc.all_gather
// CHECK: mtc.write @w.grad
// CHECK: mtc.write @mean
func.func @micro_step(%x: tensor<3xf32>) {
  %old = mtc.read @u : tensor<3xf32>
  %w = mtc.read @w : tensor<3xf32>
  %new = mtc.mul %old, %w : tensor<3xf32>
  mtc.write @u, %new : tensor<3xf32>
  %g = mtc.mul %x, %new : tensor<3xf32>
  %mean = mtc.read @mean : tensor<3xf32>
  %sum = mtc.add %mean, %g : tensor<3xf32>
  mtc.write @mean, %sum : tensor<3xf32>
  mtc.write @w.grad, %g : tensor<3xf32>
  return
}
func.func @update() {
  return
}

// -----

// The update of @u reads @mean, whose updates depend on the data, but no gradient reads either of the two.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @u : tensor<3xf32> = #mtc.zeros
mtc.variable state @mean : tensor<3xf32> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK-NOT: mtc.read @mtc.micro_step
// CHECK: mtc.all_gather
// CHECK-NOT: mtc.select
func.func @micro_step(%x: tensor<3xf32>) {
  %mean = mtc.read @mean : tensor<3xf32>
  %old = mtc.read @u : tensor<3xf32>
  %new = mtc.mul %old, %mean : tensor<3xf32>
  mtc.write @u, %new : tensor<3xf32>
  %sum = mtc.add %mean, %x : tensor<3xf32>
  mtc.write @mean, %sum : tensor<3xf32>
  return
}
func.func @update() {
  return
}

// -----

// A new value that does not depend on the old one is a captured value of the scan.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<3xf32> = #mtc.zeros
mtc.variable state @copy : tensor<3xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3xf32> = #mtc.zeros

// CHECK-LABEL: func.func private @state_update
// CHECK-SAME: (%[[OLD:.*]]: tensor<3xf32>, %[[W:.*]]: tensor<3xf32>)
// CHECK: return %[[W]], %[[OLD]]
func.func @micro_step(%x: tensor<3xf32>) {
  %old = mtc.read @copy : tensor<3xf32>
  %w = mtc.read @w : tensor<3xf32>
  mtc.write @copy, %w : tensor<3xf32>
  %g = mtc.mul %x, %old : tensor<3xf32>
  mtc.write @w.grad, %g : tensor<3xf32>
  return
}
func.func @update() {
  return
}
