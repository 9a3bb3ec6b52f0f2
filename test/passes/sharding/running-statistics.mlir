// RUN: mtc-opt %s -split-input-file -mtc-shard | FileCheck %s

// The statistics of a micro-batch are gathered once they are known. Each rank's statistics update the state in order.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @mean : tensor<3xf32> = #mtc.zeros
mtc.variable state @still : tensor<3xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3xf32> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[SCALED:.*]] = mtc.mul %arg0, %arg1
// CHECK: %[[ROWS:.*]] = mtc.all_gather %[[SCALED]] ranks 2 : tensor<3xf32> -> tensor<2x3xf32>
// CHECK: mtc.write @w.grad
// CHECK-NOT: mtc.write @mean
// CHECK: %[[OLD:.*]] = mtc.read @mean
// CHECK: %[[NEW:.*]] = mtc.add_rows %[[ROWS]] onto %[[OLD]] : tensor<3xf32> decay {{.*}} : f32 : tensor<2x3xf32> -> tensor<3xf32>
// CHECK: mtc.write @mean, %[[NEW]]
// CHECK-NOT: mtc.write @mean
func.func @micro_step(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  %decay = mtc.constant dense<0.9> : tensor<3xf32>
  %old = mtc.read @mean : tensor<3xf32>
  %kept = mtc.mul %old, %decay : tensor<3xf32>
  %scaled = mtc.mul %x, %y : tensor<3xf32>
  %new = mtc.add %kept, %scaled : tensor<3xf32>
  mtc.write @mean, %new : tensor<3xf32>
  %fixed = mtc.read @still : tensor<3xf32>
  %g = mtc.mul %y, %fixed : tensor<3xf32>
  mtc.write @w.grad, %g : tensor<3xf32>
  return
}
func.func @update() {
  return
}

// -----

// A state with two updates per micro-step has two updates per rank. A state that counts micro-batches needs no values of other ranks.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @mean : tensor<3xf32> = #mtc.zeros
mtc.variable state @count : tensor<f32> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[OWN:.*]] = mtc.concatenate %arg0, %{{.*}} axis 0 : (tensor<3xf32>, tensor<6xf32>) -> tensor<9xf32>
// CHECK: %[[ROWS:.*]] = mtc.all_gather %[[OWN]] ranks 2 : tensor<9xf32> -> tensor<2x9xf32>
// CHECK-NOT: mtc.all_gather
// CHECK: %[[COUNT:.*]] = mtc.read @count
// CHECK: %[[ONE:.*]] = mtc.add %[[COUNT]]
// CHECK: %[[TWO:.*]] = mtc.add %[[ONE]]
// CHECK: mtc.write @count, %[[TWO]]
// CHECK: mtc.slice %[[ROWS]] offsets [0, 0]
// CHECK: mtc.slice %[[ROWS]] offsets [0, 3]
// CHECK: mtc.read @mean
// CHECK: %[[FIRST:.*]] = mtc.reduce
// CHECK: mtc.slice %[[ROWS]] offsets [1, 0]
// CHECK: mtc.slice %[[ROWS]] offsets [1, 3]
// CHECK: mtc.add %[[FIRST]]
// CHECK: %[[SECOND:.*]] = mtc.reduce
// CHECK: mtc.write @mean, %[[SECOND]]
// CHECK: return
func.func @micro_step(%x: tensor<3xf32>, %y: tensor<2x3xf32>) {
  %one = mtc.constant dense<1.0> : tensor<f32>
  %counted = mtc.read @count : tensor<f32>
  %count = mtc.add %counted, %one : tensor<f32>
  mtc.write @count, %count : tensor<f32>
  %old = mtc.read @mean : tensor<3xf32>
  %new = mtc.add %old, %x : tensor<3xf32>
  %wide = mtc.broadcast %new axes [0] : tensor<3xf32> -> tensor<2x3xf32>
  %both = mtc.add %wide, %y : tensor<2x3xf32>
  %newer = mtc.reduce add %both axes [0] : tensor<2x3xf32> -> tensor<3xf32>
  mtc.write @mean, %newer : tensor<3xf32>
  return
}
func.func @update() {
  return
}

// -----

// States with the same update are concatenated; one with another factor is separate.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @a : tensor<3xf32> = #mtc.zeros
mtc.variable state @b : tensor<2x2xf32> = #mtc.zeros
mtc.variable state @c : tensor<5xf32> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[OWN:.*]] = mtc.concatenate %arg0, %{{.*}}, %arg2 axis 0
// CHECK: %[[ROWS:.*]] = mtc.all_gather %[[OWN]] ranks 2 : tensor<12xf32> -> tensor<2x12xf32>
// CHECK: %[[A:.*]] = mtc.read @a
// CHECK: %[[B:.*]] = mtc.read @b
// CHECK: %[[FLAT:.*]] = mtc.reshape %[[B]] : tensor<2x2xf32> -> tensor<4xf32>
// CHECK: %[[BOTH:.*]] = mtc.concatenate %[[A]], %[[FLAT]] axis 0
// CHECK: %[[NEW:.*]] = mtc.add_rows %[[ROWS]] onto %[[BOTH]] : tensor<7xf32> decay {{.*}} : f32 : tensor<2x12xf32> -> tensor<7xf32>
// CHECK: %[[NEWA:.*]] = mtc.slice %[[NEW]] offsets [0]
// CHECK: mtc.write @a, %[[NEWA]] : tensor<3xf32>
// CHECK: %[[NEWB:.*]] = mtc.slice %[[NEW]] offsets [3]
// CHECK: %[[SHAPED:.*]] = mtc.reshape %[[NEWB]]
// CHECK: mtc.write @b, %[[SHAPED]] : tensor<2x2xf32>
// CHECK: mtc.add_rows %[[ROWS]] from 7 onto %{{.*}} : tensor<5xf32> decay {{.*}} : f32 : tensor<2x12xf32> -> tensor<5xf32>
// CHECK: mtc.write @c
func.func @micro_step(%x: tensor<3xf32>, %y: tensor<2x2xf32>, %z: tensor<5xf32>) {
  %tenth = mtc.constant dense<0.1> : tensor<3xf32>
  %a = mtc.read @a : tensor<3xf32>
  %b = mtc.read @b : tensor<2x2xf32>
  %ka = mtc.mul %a, %tenth : tensor<3xf32>
  %na = mtc.add %ka, %x : tensor<3xf32>
  mtc.write @a, %na : tensor<3xf32>
  %tenths = mtc.constant dense<0.1> : tensor<2x2xf32>
  %kb = mtc.mul %b, %tenths : tensor<2x2xf32>
  %nb = mtc.add %kb, %y : tensor<2x2xf32>
  mtc.write @b, %nb : tensor<2x2xf32>
  %fifth = mtc.constant dense<0.2> : tensor<5xf32>
  %c = mtc.read @c : tensor<5xf32>
  %kc = mtc.mul %c, %fifth : tensor<5xf32>
  %nc = mtc.add %kc, %z : tensor<5xf32>
  mtc.write @c, %nc : tensor<5xf32>
  return
}
func.func @update() {
  return
}
