// In the training step, dropout is replaced by its inference form, with a warning; the running statistics, which depend on a dropped value, keep
// their training form.
// RUN: mtc-opt %s -split-input-file -mtc-disable-dropout -canonicalize -verify-diagnostics | FileCheck %s

mtc.variable scalar @mtc.seed : tensor<i64> = #mtc.scalar<seed>
mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
mtc.variable state @mean : tensor<4xf32> = #mtc.zeros
// expected-warning@unknown {{dropout: the gradient is computed without it, as in inference: 2 nodes, 'first', 'second'}}
func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  %seed = mtc.read @mtc.seed : tensor<i64>
  %step = mtc.read @mtc.step : tensor<i64>
  %bits = mtc.random_bits %seed, %step stream 0 : (tensor<i64>, tensor<i64>) -> tensor<4xi32>
  %zero = mtc.constant dense<0> : tensor<4xi32>
  %keep = mtc.compare ge %bits, %zero : tensor<4xi32> -> tensor<4xi1>
  %zeros = mtc.constant dense<0.0> : tensor<4xf32>
  %dropped = mtc.select %keep, %x, %zeros : tensor<4xi1>, tensor<4xf32>
  %y = mtc.select_by_mode training %dropped inference %x : tensor<4xf32> loc("first")
  %old = mtc.read @mean : tensor<4xf32>
  %new = mtc.add %old, %y : tensor<4xf32>
  %mean = mtc.select_by_mode training %new inference %old : tensor<4xf32>
  mtc.write @mean, %mean : tensor<4xf32>
  %again = mtc.select %keep, %y, %zeros : tensor<4xi1>, tensor<4xf32>
  %z = mtc.select_by_mode training %again inference %y : tensor<4xf32> loc("second")
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NOT: mtc.random_bits
// CHECK: %[[OLD:.*]] = mtc.read @mean
// CHECK: %[[NEW:.*]] = mtc.add %[[OLD]], %[[X]]
// CHECK: %[[MEAN:.*]] = mtc.select_by_mode training %[[NEW]] inference %[[OLD]]
// CHECK: mtc.write @mean, %[[MEAN]]
// CHECK: return %[[X]]
