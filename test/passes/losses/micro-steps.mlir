// A micro-step computes its part of the loss of an update: the sum over its targets, divided by the number of targets of all micro-steps.
// If labels may be ignored, the valid targets are counted.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=cross-entropy accumulate=4" 2>%t/classes.log | FileCheck %t/classes.mlir
// RUN: FileCheck %t/classes.mlir --check-prefix=NOTE < %t/classes.log
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=cross-entropy accumulate=4" --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/classes.mlir
// RUN: mtc-opt %t/mse.mlir --mtc-attach-loss="loss=mse accumulate=2" | FileCheck %t/mse.mlir
// RUN: mtc-opt %t/mse.mlir --mtc-attach-loss="loss=mse accumulate=2" --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/mse.mlir
// RUN: mtc-opt %t/output.mlir --mtc-attach-loss="loss=output accumulate=2" 2>%t/output.log | FileCheck %t/output.mlir
// RUN: FileCheck %t/output.mlir --check-prefix=NOTE < %t/output.log
// RUN: mtc-opt %t/output.mlir --mtc-attach-loss="loss=output accumulate=2" --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/output.mlir
// RUN: not mtc-opt %t/mse.mlir --mtc-attach-loss="loss=mse accumulate=0" 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: --accumulate 0: expected 1 to 1000000 batches

//--- classes.mlir
// NOTE-NOT: output
// NOTE: --accumulate: statistics and other state are updated from each of the 4 micro-batches, not from the whole batch
// CHECK: mtc.program "model" stage forward loss "cross-entropy" accumulation <micro_steps = 4, targets = 16> {
// CHECK-DAG: mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros
// CHECK-DAG: mtc.variable optimizer @mtc.target_count : tensor<f64> = #mtc.zeros
// CHECK-LABEL: func.func @micro_step
// CHECK-LABEL: func.func @evaluate
// CHECK-NOT: mtc.write
mtc.variable state @seen : tensor<4x3xf32> = #mtc.zeros
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  mtc.write @seen, %x : tensor<4x3xf32>
  return %x : tensor<4x3xf32>
}
// given @micro_step a0 = [[1, 2, 3], [4, 0, 0], [1, 1, 1], [2, 2, 0]]
// given @micro_step a1 = [0, 0, -100, 1]
// given @micro_step @mtc.loss_sum = 2
// given @micro_step @mtc.target_count = 5
// expect @micro_step = (2.4076060 + 0.0359760 + 0.7586240) / 16
// expect @micro_step @mtc.loss_sum = 2 + (2.4076060 + 0.0359760 + 0.7586240) / 16
// expect @micro_step @mtc.target_count = 8
// given @evaluate a0 = [[1, 2, 3], [4, 0, 0], [1, 1, 1], [2, 2, 0]]
// given @evaluate a1 = [0, 0, -100, 1]
// expect @evaluate = (2.4076060 + 0.0359760 + 0.7586240) / 3, np.array([2.4076060, 0.0359760, 0, 0.7586240]), np.array([1, 1, 0, 1]), np.array([0, 1, 0, 1]), np.array([2, 0, -1, 0]), np.array([0, 0, -1, 1]), (lambda e: 1 / e.sum(-1))(np.exp(a0 - a0.max(-1, keepdims=True))), (lambda e: e / e.sum(-1, keepdims=True))(np.exp(a0 - a0.max(-1, keepdims=True)))
// expect @outputs = a0

//--- mse.mlir
// All targets are valid. Random bits depend on the micro-step, in the training step only.
// CHECK: mtc.program "model" stage forward loss "mse" accumulation <micro_steps = 2> {
// CHECK-NOT: @mtc.target_count
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[STEP:.*]] = mtc.read @mtc.step
// CHECK: %[[BEFORE:.*]] = mtc.mul
// CHECK: %[[OWN:.*]] = mtc.read @mtc.micro_step
// CHECK: %[[SUM:.*]] = mtc.add %[[BEFORE]], %[[OWN]]
// CHECK: %[[NUMBER:.*]] = mtc.add %[[SUM]],
// CHECK: mtc.random_bits %{{.*}}, %[[NUMBER]] stream 0
// CHECK-LABEL: func.func @evaluate
// CHECK: %[[STEP:.*]] = mtc.read @mtc.step
// CHECK: mtc.random_bits %{{.*}}, %[[STEP]] stream 0
mtc.variable scalar @mtc.seed : tensor<i64> = #mtc.scalar<seed>
mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "y"}, tensor<2x3xi32> {mtc.name = "bits"}) {
  %seed = mtc.read @mtc.seed : tensor<i64>
  %step = mtc.read @mtc.step : tensor<i64>
  %r = mtc.random_bits %seed, %step stream 0 : (tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  return %x, %r : tensor<2x3xf32>, tensor<2x3xi32>
}
// given @micro_step @mtc.loss_sum = 2
// given @micro_step @mtc.step = 3
// given @micro_step @mtc.micro_step = 1
// given @micro_step @mtc.seed = 0
// expect @micro_step = ((a0 - a1) ** 2).mean() / 2
// expect @micro_step @mtc.loss_sum = 2 + ((a0 - a1) ** 2).mean() / 2

//--- output.mlir
// NOTE: --accumulate: the loss is the mean of output 'loss' over its 2 micro-batches
// NOTE-NOT: batch normalization
// CHECK: accumulation <micro_steps = 2>
func.func @forward(%x: tensor<f32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "loss"}) {
  return %x : tensor<f32>
}
// given @micro_step a0 = 3
// given @micro_step @mtc.loss_sum = 2
// expect @micro_step = 1.5
// expect @micro_step @mtc.loss_sum = 3.5
