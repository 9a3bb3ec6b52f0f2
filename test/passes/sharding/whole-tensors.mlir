// RUN: mtc-opt %s -split-input-file -mtc-optimizer="optimizer=muon ns-steps=1 group={{match=* optimizer=muon}}" | FileCheck %s

// Two equal matrices on three ranks: rank 0 assembles the first one from all ranks' shards, rank 1 the second one, and rank 2 computes with zeros.
// The steps return to the owners of the shards.
// CHECK-LABEL: mtc.program "equal"
// CHECK: mtc.variable optimizer @a.moment1 : tensor<256xf32> piece of tensor<20x30xf32>
// CHECK: mtc.variable optimizer @b.moment1 : tensor<256xf32> piece of tensor<20x30xf32>
mtc.program "equal" stage training ranks <count = 3, shard = gradients> accumulation <micro_steps = 3> {}
mtc.variable parameter @a : tensor<20x30xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<20x30xf32> = #mtc.zeros
mtc.variable gradient @a.grad : tensor<20x30xf32> = #mtc.zeros of @a
mtc.variable gradient @b.grad : tensor<20x30xf32> = #mtc.zeros of @b

func.func @micro_step() {
  %a = mtc.read @a : tensor<20x30xf32>
  %b = mtc.read @b : tensor<20x30xf32>
  mtc.write @a.grad, %a : tensor<20x30xf32>
  mtc.write @b.grad, %b : tensor<20x30xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK: %[[ALL:.*]] = mtc.concatenate %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<768xf32>
// CHECK: %[[ROWS:.*]] = mtc.all_to_all %[[ALL]] pieces [256] : tensor<768xf32> -> tensor<3x256xf32>
// CHECK: mtc.contract %{{.*}} : tensor<20x30xf32>, tensor<20x30xf32> -> tensor<20x20xf32>
// CHECK: mtc.all_to_all %{{.*}} pieces [256] : tensor<20x30xf32> -> tensor<3x256xf32>
// CHECK-NOT: mtc.contract
// CHECK: mtc.write @a.moment1
// CHECK: mtc.write @b.moment1

// -----

// A single matrix is assembled by every rank.
// CHECK-LABEL: mtc.program "single"
mtc.program "single" stage training ranks <count = 2, shard = gradients> accumulation <micro_steps = 2> {}
mtc.variable parameter @a : tensor<20x30xf32> = #mtc.zeros
mtc.variable gradient @a.grad : tensor<20x30xf32> = #mtc.zeros of @a

func.func @micro_step() {
  %a = mtc.read @a : tensor<20x30xf32>
  mtc.write @a.grad, %a : tensor<20x30xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK-NOT: mtc.all_to_all
// CHECK: %[[WHOLE:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<512xf32> -> tensor<20x30xf32>
// CHECK: mtc.contract
// CHECK: mtc.own_piece %{{.*}} ranks 2 : tensor<20x30xf32> -> tensor<512xf32>
// CHECK: mtc.write @a.moment1
