// Tests the text of an update with loss scaling, and its effect on parameters, state, the scale and its counters.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/text.mlir --mtc-scale-loss=loss-scale=1024 --mtc-optimizer="optimizer=momentum clip-norm=1 clip-value=0.5" --mtc-simplify | FileCheck %t/text.mlir
// RUN: mtc-opt %t/f64.mlir --mtc-scale-loss=loss-scale=1024 --mtc-optimizer="optimizer=adam" --mtc-simplify | FileCheck %t/f64.mlir
// RUN: mtc-opt %t/one-kernel.mlir --mtc-scale-loss=loss-scale=1024 --mtc-optimizer="optimizer=sgd grad-norm" --mtc-simplify --mtc-kernel-pipeline | FileCheck %t/one-kernel.mlir
// RUN: mtc-opt %t/update-kernel.mlir --mtc-scale-loss=loss-scale=1024 --mtc-optimizer="optimizer=adam weight-decay=0.5 clip-norm=1 clip-value=1 ema=0.5" --mtc-simplify --mtc-kernel-pipeline | FileCheck %t/update-kernel.mlir
// RUN: mtc-opt %t/update-kernel.mlir --mtc-optimizer="optimizer=adam weight-decay=0.5 clip-norm=1 clip-value=1 ema=0.5" --mtc-simplify --mtc-kernel-pipeline | FileCheck %t/update-kernel.mlir
// RUN: mtc-opt %t/adamw.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=adamw weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/adamw.mlir
// RUN: mtc-opt %t/skipped.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=adamw ema=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/skipped.mlir
// RUN: mtc-opt %t/shaped.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=adafactor" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/shaped.mlir
// RUN: mtc-opt %t/large.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=sgd" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/large.mlir
// RUN: mtc-opt %t/grown.mlir --mtc-scale-loss="loss-scale=1 loss-scale-window=4" --mtc-optimizer="optimizer=sgd" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/grown.mlir
// RUN: mtc-opt %t/full-grown.mlir --mtc-scale-loss="loss-scale=1 loss-scale-window=4" --mtc-optimizer="optimizer=sgd" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/full-grown.mlir
// RUN: mtc-opt %t/minimum.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=sgd" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/minimum.mlir
// RUN: mtc-opt %t/accumulated.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=sgd" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/accumulated.mlir
// RUN: mtc-opt %t/clipped.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=sgd clip-value=0.5 clip-norm=0.25" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/clipped.mlir
// RUN: mtc-opt %t/results.mlir --mtc-scale-loss=loss-scale=1 --mtc-optimizer="optimizer=sgd grad-norm" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/results.mlir

//--- text.mlir
// Each gradient is multiplied once. A skipped update writes nothing.
// CHECK: func.func @update() -> (tensor<f64> {mtc.name = "mtc.gradient_norm"}, tensor<f64> {mtc.name = "mtc.loss_scale"}, tensor<i1> {mtc.name = "mtc.update_skipped"})
// CHECK: %[[STATE:.*]] = mtc.read @mtc.loss_scale : tensor<f32>
// CHECK: %[[SCALE:.*]] = mtc.cast %[[STATE]] : tensor<f32> -> tensor<f64>
// CHECK: %[[NORM:.*]] = mtc.sqrt
// CHECK: %[[SKIPPED:.*]] = mtc.compare gt %{{.*}} : tensor<f64> -> tensor<i1>
// CHECK: %[[P:.*]] = mtc.read_flat [@w, @b]
// CHECK: mtc.read_flat [@w.grad, @b.grad]
// CHECK: %[[S:.*]] = mtc.read_flat [@w.velocity, @b.velocity]
// CHECK: mtc.min
// CHECK: mtc.max
// CHECK-NEXT: mtc.cast
// CHECK-NEXT: mtc.broadcast
// CHECK-NEXT: mtc.mul
// CHECK: %[[EACH:.*]] = mtc.broadcast %[[SKIPPED]] axes [0] : tensor<i1> -> tensor<48xi1>
// CHECK: %[[NEW_S:.*]] = mtc.select %[[EACH]], %[[S]], %
// CHECK: %[[NEW_P:.*]] = mtc.select %[[EACH]], %[[P]], %
// CHECK: mtc.write_flat [@w.velocity, @b.velocity], %[[NEW_S]]
// CHECK: mtc.write_flat [@w, @b], %[[NEW_P]]
// CHECK: mtc.write @mtc.loss_scale
// CHECK: mtc.write @mtc.finite_updates
// CHECK: mtc.write @mtc.update_count
// CHECK: return %[[NORM]], %[[SCALE]], %[[SKIPPED]]
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b

//--- f64.mlir
// The optimizer's step counts updates, not the run's steps.
// CHECK-NOT: @mtc.step
// CHECK: %[[COUNT:.*]] = mtc.read @mtc.update_count : tensor<i64>
// CHECK: mtc.cast %[[COUNT]] : tensor<i64> -> tensor<f64>
// CHECK: mtc.compare lt %{{.*}} : tensor<3x5xf64> -> tensor<3x5xi1>
mtc.variable parameter @w : tensor<3x5xf64> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf64> = #mtc.zeros of @w

//--- one-kernel.mlir
// A gradient is read twice: by the kernel that computes its norm and checks it, and by the update.
// CHECK-LABEL: func.func @update
// CHECK: mtc.kernel [64, 2048] reduce [1]
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.yield
// CHECK-NOT: [64, 2048]
// CHECK: mtc.kernel [131072]
// CHECK-NOT: [131072]
// CHECK: return
mtc.variable parameter @w : tensor<64x2048xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<64x2048xf32> = #mtc.zeros of @w

//--- adamw.mlir
// This is the third update that is not skipped.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 7
// given @update @mtc.update_count = 2
// given @update @w.moment2 = 0.5
// given @update @w.grad = np.arange(15).reshape(3, 5) * 512.0
// expect @update @w.moment1 = 0.9 * v["w.moment1"] + 0.1 * v["w.grad"] / 1024
// expect @update @w.moment2 = 0.999 * v["w.moment2"] + 0.001 * (v["w.grad"] / 1024) ** 2
// expect @update @w = v["w"] * (1 - 0.25 * 0.5) - 0.25 / (1 - 0.9 ** 3) * (0.9 * v["w.moment1"] + 0.1 * v["w.grad"] / 1024) / (np.sqrt((0.999 * v["w.moment2"] + 0.001 * (v["w.grad"] / 1024) ** 2) / (1 - 0.999 ** 3)) + 1e-8)
// expect @update @mtc.loss_scale = 1024
// expect @update @mtc.finite_updates = 8
// expect @update @mtc.update_count = 3

//--- skipped.mlir
// One element of one gradient is not finite, so only the scale changes.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 1999
// given @update @mtc.update_count = 2
// given @update @b.moment2 = 0.5
// given @update @w.moment2 = 0.5
// given @update @b.grad = np.where(np.arange(17) == 16, -inf, 1)
// expect @update @w = v["w"]
// expect @update @w.ema = v["w.ema"]
// expect @update @w.moment1 = v["w.moment1"]
// expect @update @w.moment2 = v["w.moment2"]
// expect @update @b = v["b"]
// expect @update @b.ema = v["b.ema"]
// expect @update @b.moment1 = v["b.moment1"]
// expect @update @b.moment2 = v["b.moment2"]
// expect @update @mtc.loss_scale = 512
// expect @update @mtc.finite_updates = 0
// expect @update @mtc.update_count = 2

//--- shaped.mlir
// This also holds if parameters are updated separately.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 2
// given @update @mtc.update_count = 2
// given @update @w.grad = np.where(np.arange(15).reshape(3, 5) == 7, nan, 1)
// expect @update @w = v["w"]
// expect @update @w.row_moment2 = v["w.row_moment2"]
// expect @update @w.column_moment2 = v["w.column_moment2"]
// expect @update @b = v["b"]
// expect @update @b.moment2 = v["b.moment2"]
// expect @update @mtc.loss_scale = 512

//--- large.mlir
// Elements whose squares or sum overflow are finite.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 1e-35
// given @update @mtc.loss_scale = 16
// given @update @mtc.finite_updates = 2
// given @update @mtc.update_count = 2
// given @update @w.grad = 3.4e38
// expect @update @w = v["w"] - 1e-35 * 3.4e38 / 16
// expect @update @mtc.loss_scale = 16
// expect @update @mtc.update_count = 3

//--- grown.mlir
// The growth interval is complete.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// expect @update @w = v["w"] - 0.25 * v["w.grad"] / 1024
// expect @update @mtc.loss_scale = 2048
// expect @update @mtc.finite_updates = 0
// expect @update @mtc.update_count = 10

//--- full-grown.mlir
// A scale never becomes infinite.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 2.0 ** 126
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// expect @update @mtc.loss_scale = 2.0 ** 126
// expect @update @mtc.finite_updates = 0
// expect @update @mtc.update_count = 10

//--- minimum.mlir
// Nor 0.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 2.0 ** -14
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// given @update @w.grad = nan
// expect @update @w = v["w"]
// expect @update @mtc.loss_scale = 2.0 ** -14
// expect @update @mtc.finite_updates = 0
// expect @update @mtc.update_count = 9

//--- accumulated.mlir
// The sum of skipped micro-steps is discarded. Two of eight targets are valid.
mtc.program "model" stage forward accumulation <micro_steps = 4, targets = 8> {}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w
mtc.variable optimizer @mtc.target_count : tensor<f64> = #mtc.zeros
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// given @update @mtc.target_count = 2
// given @update @w.grad = nan
// expect @update @w = v["w"]
// expect @update @w.grad = np.zeros(4)
// expect @update @mtc.target_count = 0
// expect @update @mtc.loss_scale = 512

//--- clipped.mlir
// Both limits apply to the unscaled gradients.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// given @update @w.grad = (np.arange(15).reshape(3, 5) - 7) * 256.0
// expect @update @w = (lambda g: v["w"] - 0.25 * g * min(1, 0.25 / np.sqrt((g ** 2).sum())))(np.clip(v["w.grad"] / 1024, -0.5, 0.5))

//--- results.mlir
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.loss_scale = 1024
// given @update @mtc.finite_updates = 3
// given @update @mtc.update_count = 9
// given @update @w.grad = 1024
// expect @update = (np.sqrt(15.0), 1024.0, False)

//--- update-kernel.mlir
// The update is one kernel, which reads and writes each variable once, and has no temporaries of a parameter's size.
// CHECK-LABEL: func.func @update
// CHECK: mtc.kernel [131072]
// CHECK-NOT: [131072]
// CHECK-NOT: mtc.write_flat [@w.grad]
// CHECK: mtc.write_flat [@w.moment1]
// CHECK-NEXT: mtc.write_flat [@w.moment2]
// CHECK-NEXT: mtc.write_flat [@w.ema]
// CHECK-NEXT: mtc.write_flat [@w]
// CHECK-NOT: [131072]
// CHECK: return
mtc.variable parameter @w : tensor<64x2048xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<64x2048xf32> = #mtc.zeros of @w
