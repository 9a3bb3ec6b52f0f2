// The size of a program does not depend on the number of ranks, and most shards of small values are empty.
// RUN: mtc-opt %s -mtc-optimizer="optimizer=adamw lr=0.1" -mtc-shard | FileCheck %s
// RUN: mtc-opt %s -mtc-optimizer="optimizer=adamw lr=0.1" -mtc-shard -mtc-form-kernels -mtc-fuse-kernels | FileCheck %s --check-prefix=KERNELS

// CHECK: mtc.variable parameter @w : tensor<512xf32> piece of tensor<1024x1536xf32>
// CHECK: mtc.variable parameter @b : tensor<256xf32> piece of tensor<256xf32>
mtc.program "m" stage training ranks <count = 4096, shard = parameters> accumulation <micro_steps = 4096> {}
mtc.variable parameter @w : tensor<1024x1536xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<256xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<1024x1536xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<256xf32> = #mtc.zeros of @b
mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.all_gather %{{.*}} ranks 4096 : tensor<512xf32> -> tensor<1024x1536xf32>
// CHECK: mtc.all_gather %{{.*}} ranks 4096 : tensor<256xf32> -> tensor<256xf32>
// CHECK: %[[ROWS:.*]] = mtc.all_to_all %{{.*}}, %{{.*}} pieces [512, 256] : tensor<1024x1536xf32>, tensor<256xf32> -> tensor<4096x768xf32>
// CHECK-COUNT-2: mtc.add_rows
// CHECK-NOT: mtc.add_rows
// CHECK: return

// KERNELS-LABEL: func.func @micro_step
// KERNELS-COUNT-2: mtc.kernel.add_rows
// KERNELS-NOT: mtc.kernel.add_rows
// KERNELS: return
func.func @micro_step(%x: tensor<1024x1536xf32>, %y: tensor<256xf32>, %l: tensor<f64>) {
  %old = mtc.read @mtc.loss_sum : tensor<f64>
  %sum = mtc.add %old, %l : tensor<f64>
  mtc.write @mtc.loss_sum, %sum : tensor<f64>
  %w = mtc.read @w : tensor<1024x1536xf32>
  %b = mtc.read @b : tensor<256xf32>
  %gw = mtc.mul %x, %w : tensor<1024x1536xf32>
  %gb = mtc.mul %y, %b : tensor<256xf32>
  mtc.write @w.grad, %gw : tensor<1024x1536xf32>
  mtc.write @b.grad, %gb : tensor<256xf32>
  return
}
