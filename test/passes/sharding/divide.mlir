// RUN: mtc-opt %s -split-input-file -mtc-optimizer="optimizer=momentum lr=0.1" -mtc-shard | FileCheck %s

// The optimizer's state is sharded. Every rank has the whole parameter, updates its shard, and gathers the new shards of the other ranks.
// CHECK-LABEL: mtc.program "held"
// CHECK: mtc.variable parameter @w : tensor<20x30xf32> = #mtc.zeros
// CHECK-NOT: @w.grad
// CHECK: mtc.variable gradient @mtc.gradient_sum.0 : tensor<512xf32>
// CHECK: mtc.variable optimizer @w.velocity : tensor<512xf32> piece of tensor<20x30xf32>
mtc.program "held" stage training ranks <count = 2, shard = gradients> accumulation <micro_steps = 4> {}
mtc.variable parameter @w : tensor<20x30xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<20x30xf32> = #mtc.zeros of @w

// The whole gradient is not stored.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[G:.*]] = mtc.exp
// CHECK: %[[ROWS:.*]] = mtc.all_to_all %[[G]] pieces [512] : tensor<20x30xf32> -> tensor<2x512xf32>
// CHECK: mtc.write @mtc.gradient_sum.0
// CHECK-NOT: mtc.write
func.func @micro_step() {
  %w = mtc.read @w : tensor<20x30xf32>
  %g = mtc.exp %w : tensor<20x30xf32>
  mtc.write @w.grad, %g : tensor<20x30xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK: %[[W:.*]] = mtc.read @w : tensor<20x30xf32>
// CHECK: %[[OWN:.*]] = mtc.own_piece %[[W]] ranks 2 : tensor<20x30xf32> -> tensor<512xf32>
// CHECK: %[[SUMS:.*]] = mtc.read @mtc.gradient_sum.0
// CHECK: mtc.slice %[[SUMS]] offsets [0]
// CHECK: mtc.read @w.velocity : tensor<512xf32>
// CHECK: mtc.write @w.velocity, %{{.*}} : tensor<512xf32>
// CHECK: %[[NEW:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<512xf32> -> tensor<20x30xf32>
// CHECK: mtc.write @w, %[[NEW]]
// CHECK: mtc.write @mtc.gradient_sum.0, %{{.*}} : tensor<512xf32>

// -----

// If the parameters are sharded, a variable is gathered before its uses, and again if other variables were gathered between the uses.
// CHECK-LABEL: mtc.program "divided"
// CHECK: mtc.variable parameter @a : tensor<512xf32> piece of tensor<1024xf32>
// CHECK: mtc.variable parameter @d : tensor<512xf32> piece of tensor<1024xf32>
mtc.program "divided" stage training ranks <count = 2, shard = parameters> accumulation <micro_steps = 2> {}
mtc.variable parameter @a : tensor<1024xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<1024xf32> = #mtc.zeros
mtc.variable parameter @c : tensor<1024xf32> = #mtc.zeros
mtc.variable parameter @d : tensor<1024xf32> = #mtc.zeros
mtc.variable gradient @a.grad : tensor<1024xf32> = #mtc.zeros of @a
mtc.variable gradient @b.grad : tensor<1024xf32> = #mtc.zeros of @b
mtc.variable gradient @c.grad : tensor<1024xf32> = #mtc.zeros of @c
mtc.variable gradient @d.grad : tensor<1024xf32> = #mtc.zeros of @d

// CHECK-LABEL: func.func @micro_step
// The first two variables arrive before the computation begins, and each further one during the use of the previous one.
// CHECK: %[[A:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<512xf32> -> tensor<1024xf32>
// CHECK: %[[B:.*]] = mtc.all_gather
// CHECK: mtc.exp %[[A]]
// CHECK: %[[C:.*]] = mtc.all_gather
// CHECK: mtc.mul %{{.*}}, %[[B]]
// CHECK: %[[D:.*]] = mtc.all_gather
// CHECK: mtc.mul %{{.*}}, %[[C]]
// CHECK: %[[AGAIN:.*]] = mtc.all_gather
// CHECK: mtc.mul %{{.*}}, %[[D]]
// CHECK: mtc.mul %{{.*}}, %[[AGAIN]]
func.func @micro_step() {
  %a = mtc.read @a : tensor<1024xf32>
  %b = mtc.read @b : tensor<1024xf32>
  %c = mtc.read @c : tensor<1024xf32>
  %d = mtc.read @d : tensor<1024xf32>
  %0 = mtc.exp %a : tensor<1024xf32>
  %1 = mtc.mul %0, %b : tensor<1024xf32>
  %2 = mtc.mul %1, %c : tensor<1024xf32>
  %3 = mtc.mul %2, %d : tensor<1024xf32>
  %4 = mtc.mul %3, %a : tensor<1024xf32>
  mtc.write @d.grad, %3 : tensor<1024xf32>
  mtc.write @c.grad, %2 : tensor<1024xf32>
  mtc.write @b.grad, %1 : tensor<1024xf32>
  mtc.write @a.grad, %4 : tensor<1024xf32>
  return
}

// The update needs no other rank.
// CHECK-LABEL: func.func @update
// CHECK-NOT: mtc.all
// CHECK: mtc.write @a, %{{.*}} : tensor<512xf32>

// -----

// The part of a parameter, which all ranks of a data group have, is divided further.
// CHECK-LABEL: mtc.program "parts"
// CHECK: mtc.variable parameter @w : tensor<20x15xf32> part of tensor<20x30xf32> along <axis = 1, parts = 2> = #mtc.zeros
// CHECK: mtc.variable optimizer @w.velocity : tensor<256xf32> piece of tensor<20x15xf32> part of tensor<20x30xf32> along <axis = 1, parts = 2>
mtc.program "parts" stage training ranks <count = 4, tensor = 2, shard = optimizer> accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<20x15xf32> part of tensor<20x30xf32> along #mtc.axis_split<axis = 1, parts = 2> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<20x15xf32> = #mtc.zeros of @w
func.func @micro_step() {
  %w = mtc.read @w : tensor<20x15xf32>
  %g = mtc.exp %w : tensor<20x15xf32>
  mtc.write @w.grad, %g : tensor<20x15xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK: mtc.own_piece %{{.*}} ranks 2 stride 2 : tensor<20x15xf32> -> tensor<256xf32>
// CHECK: mtc.all_gather %{{.*}} ranks 2 stride 2 : tensor<256xf32> -> tensor<20x15xf32>

// -----

// If nothing is divided further, the state is a part as the parameter is.
// CHECK-LABEL: mtc.program "undivided"
// CHECK: mtc.variable optimizer @w.velocity : tensor<20x15xf32> part of tensor<20x30xf32> along <axis = 1, parts = 2>
mtc.program "undivided" stage training ranks <count = 2, tensor = 2> {}
mtc.variable parameter @w : tensor<20x15xf32> part of tensor<20x30xf32> along #mtc.axis_split<axis = 1, parts = 2> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<20x15xf32> = #mtc.zeros of @w
func.func @micro_step() {
  %w = mtc.read @w : tensor<20x15xf32>
  mtc.write @w.grad, %w : tensor<20x15xf32>
  return
}
