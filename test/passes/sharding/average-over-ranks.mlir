// RUN: mtc-opt %s -mtc-shard | FileCheck %s
// RUN: mtc-opt %s -mtc-autodiff | FileCheck %s --check-prefix=GRADIENT
// RUN: not mtc-opt %s -mtc-set-ranks="ranks=3" 2>&1 | FileCheck %s --check-prefix=RANKS

// RUN: mtc-opt %s -mtc-set-ranks="ranks=4 tensor=2" | FileCheck %s --check-prefix=GROUPS

// RANKS: error: --ranks 3: 3 ranks have different samples, but the model was converted for 2 (--batch-norm sync); expected the same number
// GROUPS: ranks <count = 4, tensor = 2>

mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<8xf32> = #mtc.zeros
mtc.variable state @mean : tensor<8xf32> = #mtc.zeros

// A state that is updated from averages over the ranks is equal on all of them, and updated once.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[ALL:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<8xf32> -> tensor<2x8xf32>
// CHECK: %[[SUM:.*]] = mtc.add_rows %[[ALL]] : tensor<2x8xf32> -> tensor<8xf32>
// CHECK: mtc.div %[[SUM]]
// CHECK-NOT: mtc.all_gather
// CHECK: mtc.write @mean
// CHECK-NOT: mtc.write @mean

// The losses of all ranks depend on the average, so the cotangent is averaged as well.
// GRADIENT-LABEL: func.func @micro_step
// GRADIENT: mtc.average_over_ranks
// GRADIENT: mtc.average_over_ranks
// GRADIENT: mtc.write @w.grad
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<8xf32>
  %average = mtc.average_over_ranks %w ranks 2 : tensor<8xf32>
  mtc.write @mean, %average : tensor<8xf32>
  %square = mtc.mul %average, %average : tensor<8xf32>
  %loss = mtc.reduce add %square axes [0] : tensor<8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @update() {
  return
}
