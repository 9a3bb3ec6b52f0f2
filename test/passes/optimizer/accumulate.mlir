// If micro-steps accumulate gradients, the update resets them to zero in the kernel that reads them, and stays separate. If not all targets are
// valid, it divides gradients by the share of valid ones.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/all.mlir --mtc-optimizer=optimizer=sgd | FileCheck %t/all.mlir
// RUN: mtc-opt %t/all.mlir --mtc-optimizer=optimizer=sgd --mtc-simplify --mtc-kernel-pipeline | FileCheck %t/all.mlir --check-prefix=KERNEL
// RUN: mtc-opt %t/all.mlir --mtc-optimizer=optimizer=sgd --mtc-fuse-update --remarks-filter=mtc-fuse-update --remark-policy=all 2>&1 | FileCheck %t/all.mlir --check-prefix=APART
// RUN: mtc-opt %t/counted.mlir --mtc-optimizer="optimizer=sgd clip-value=0.5 clip-norm=0.25" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/counted.mlir
// RUN: mtc-opt %t/scaled.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=sgd clip-value=0.5 grad-norm" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/scaled.mlir
// RUN: mtc-opt %t/none.mlir --mtc-optimizer="optimizer=sgd" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/none.mlir

//--- all.mlir
// CHECK-LABEL: func.func @update
// CHECK: %[[NEW:.*]] = mtc.sub
// CHECK: %[[NEVER:.*]] = mtc.compare lt %[[NEW]], %[[NEW]]
// CHECK: %[[ZERO:.*]] = mtc.cast %[[NEVER]] : tensor<4096xi1> -> tensor<4096xf32>
// CHECK: mtc.write_flat [@w.grad], %[[ZERO]]
// CHECK: mtc.write_flat [@w], %[[NEW]]
// CHECK: mtc.write @mtc.loss_sum

// KERNEL-LABEL: func.func @update
// KERNEL: %[[R:.*]]:2 = mtc.kernel [4096]
// KERNEL-NOT: [4096]
// KERNEL: mtc.write_flat [@w.grad], %[[R]]#
// KERNEL-NEXT: mtc.write_flat [@w], %[[R]]#
// KERNEL-NOT: [4096]
// KERNEL: return

// APART: update-apart {{.*}}gradients are sums over micro-steps
// APART: mtc.write @w.grad
// APART-NOT: func.func @gradients
mtc.program "model" stage forward accumulation <micro_steps = 4> {}
mtc.variable parameter @w : tensor<4096xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4096xf32> = #mtc.zeros of @w
mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros
func.func @micro_step(%x: tensor<4096xf32>) {
  %g = mtc.read @w.grad : tensor<4096xf32>
  %s = mtc.add %g, %x : tensor<4096xf32>
  mtc.write @w.grad, %s : tensor<4096xf32>
  return
}

//--- counted.mlir
// Both limits apply to the whole update's gradients.
mtc.program "model" stage forward accumulation <micro_steps = 4, targets = 32> {}
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros
mtc.variable optimizer @mtc.target_count : tensor<f64> = #mtc.zeros
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_sum = 3
// given @update @mtc.target_count = 8
// given @update @w.grad = (np.arange(15).reshape(3, 5) - 7) / 16
// expect @update @w = (lambda g: v["w"] - 0.25 * g * min(1, 0.25 / np.sqrt((g ** 2).sum())))(np.clip(v["w.grad"] * 4, -0.5, 0.5))
// expect @update @w.grad = np.zeros((3, 5))
// expect @update @mtc.loss_sum = 0
// expect @update @mtc.target_count = 0

//--- scaled.mlir
mtc.program "model" stage forward accumulation <micro_steps = 4, targets = 32> {}
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable optimizer @mtc.target_count : tensor<f64> = #mtc.zeros
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// given @update @mtc.target_count = 8
// given @update @w.grad = (np.arange(15).reshape(3, 5) - 7) * 64.0
// expect @update @w = v["w"] - 0.25 * np.clip(v["w.grad"] / 256, -0.5, 0.5)
// expect @update = (np.sqrt((np.clip(v["w.grad"] / 256, -0.5, 0.5).astype(np.float64) ** 2).sum()), 1024.0, False)

//--- none.mlir
// Without any valid target, gradients are 0, as with one batch.
mtc.program "model" stage forward accumulation <micro_steps = 2, targets = 6> {}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w
mtc.variable optimizer @mtc.target_count : tensor<f64> = #mtc.zeros
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.target_count = 0
// given @update @w.grad = 0
// expect @update @w = v["w"]
