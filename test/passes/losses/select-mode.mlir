// Training steps compute the first form; evaluation and outputs compute only the second.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-loss{loss=mse}, func.func(mtc-select-mode), canonicalize)' | FileCheck %s

mtc.variable scalar @mtc.seed : tensor<i64> = #mtc.scalar<seed>
mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
mtc.variable state @mean : tensor<4x3xf32> = #mtc.zeros
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "y"}, tensor<4x3xf32> {mtc.name = "noise"}) {
  %seed = mtc.read @mtc.seed : tensor<i64>
  %step = mtc.read @mtc.step : tensor<i64>
  %bits = mtc.random_bits %seed, %step stream 0 : (tensor<i64>, tensor<i64>) -> tensor<4x3xi32>
  %zero = mtc.constant dense<0> : tensor<4x3xi32>
  %keep = mtc.compare ge %bits, %zero : tensor<4x3xi32> -> tensor<4x3xi1>
  %zeros = mtc.constant dense<0.0> : tensor<4x3xf32>
  %dropped = mtc.select %keep, %x, %zeros : tensor<4x3xi1>, tensor<4x3xf32>
  %y = mtc.select_by_mode training %dropped inference %x : tensor<4x3xf32>
  %old = mtc.read @mean : tensor<4x3xf32>
  %new = mtc.add %old, %x : tensor<4x3xf32>
  %mean = mtc.select_by_mode training %new inference %old : tensor<4x3xf32>
  mtc.write @mean, %mean : tensor<4x3xf32>
  %z = mtc.sub %y, %mean : tensor<4x3xf32>
  %more = mtc.random_bits %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4x3xi32>
  %noise = mtc.cast %more : tensor<4x3xi32> -> tensor<4x3xf32>
  return %z, %noise : tensor<4x3xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32> {mtc.name = "x"}, %
// CHECK: mtc.random_bits {{.*}} stream 0
// CHECK: %[[DROPPED:.*]] = mtc.select %{{.*}}, %[[X]]
// CHECK: %[[OLD:.*]] = mtc.read @mean
// CHECK: %[[NEW:.*]] = mtc.add %[[OLD]], %[[X]]
// CHECK: mtc.write @mean, %[[NEW]]
// CHECK: mtc.sub %[[DROPPED]], %[[NEW]]

// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32> {mtc.name = "x"}, %
// CHECK-NOT: mtc.random_bits
// CHECK: %[[OLD:.*]] = mtc.read @mean
// CHECK-NOT: mtc.write
// CHECK: mtc.sub %[[X]], %[[OLD]]

// Random numbers in both modes are those of training steps.
// CHECK-LABEL: func.func @outputs(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32> {mtc.name = "x"})
// CHECK: %[[OLD:.*]] = mtc.read @mean
// CHECK: mtc.sub %[[X]], %[[OLD]]
// CHECK: mtc.random_bits {{.*}} stream 1
// CHECK-NOT: mtc.select_by_mode
