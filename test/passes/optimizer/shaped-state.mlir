// Tests the variables and the effect of one update for optimizers whose state has other shapes than the parameter or nonzero initial
// values, and for those that update parameters one after another.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/rmsprop.mlir --mtc-optimizer="optimizer=rmsprop centered=true momentum=0.5 weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/rmsprop.mlir
// RUN: mtc-opt %t/rmsprop.mlir --mtc-optimizer="optimizer=rmsprop" | FileCheck %t/rmsprop.mlir
// RUN: mtc-opt %t/adagrad.mlir --mtc-optimizer="optimizer=adagrad lr-decay=0.5 initial-accumulator-value=0.25" | FileCheck %t/adagrad.mlir
// RUN: mtc-opt %t/adagrad.mlir --mtc-optimizer="optimizer=adagrad lr-decay=0.5 weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/adagrad.mlir
// RUN: mtc-opt %t/adafactor.mlir --mtc-optimizer="optimizer=adafactor weight-decay=0.5" | FileCheck %t/adafactor.mlir
// RUN: mtc-opt %t/adafactor.mlir --mtc-optimizer="optimizer=adafactor weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/adafactor.mlir
// RUN: mtc-opt %t/nesterov.mlir --mtc-optimizer="optimizer=momentum momentum=0.75 nesterov=true weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/nesterov.mlir
// RUN: mtc-opt %t/clip.mlir --mtc-optimizer="optimizer=sgd clip-value=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/clip.mlir
// RUN: mtc-opt %t/average.mlir --mtc-optimizer="optimizer=sgd ema=0.75" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/average.mlir
// RUN: mtc-opt %t/average.mlir --mtc-optimizer="optimizer=sgd ema=0.75" | FileCheck %t/average.mlir

//--- rmsprop.mlir
// Without centering and momentum there is one state.
// CHECK: mtc.variable optimizer @w.moment2
// CHECK-NOT: mtc.variable optimizer
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @w.moment2 = 4
// given @update @w.moment1 = 0.5
// expect @update @w.moment2 = 0.99 * 4 + 0.01 * (v["w.grad"] + 0.5 * v["w"]) ** 2
// expect @update @w.moment1 = 0.99 * 0.5 + 0.01 * (v["w.grad"] + 0.5 * v["w"])
// expect @update @w.velocity = 0.5 * v["w.velocity"] + (v["w.grad"] + 0.5 * v["w"]) / (np.sqrt(0.99 * 4 + 0.01 * (v["w.grad"] + 0.5 * v["w"]) ** 2 - (0.99 * 0.5 + 0.01 * (v["w.grad"] + 0.5 * v["w"])) ** 2) + 1e-8)
// expect @update @w = v["w"] - 0.25 * (0.5 * v["w.velocity"] + (v["w.grad"] + 0.5 * v["w"]) / (np.sqrt(0.99 * 4 + 0.01 * (v["w.grad"] + 0.5 * v["w"]) ** 2 - (0.99 * 0.5 + 0.01 * (v["w.grad"] + 0.5 * v["w"])) ** 2) + 1e-8))

//--- adagrad.mlir
// The third step.
// CHECK: mtc.variable optimizer @w.sum : tensor<3x5xf32> = dense<2.500000e-01> : tensor<3x5xf32> of @w
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.step = 3
// given @update @w.sum = 2
// expect @update @w.sum = 2 + (v["w.grad"] + 0.5 * v["w"]) ** 2
// expect @update @w = v["w"] - 0.125 * (v["w.grad"] + 0.5 * v["w"]) / (np.sqrt(2 + (v["w.grad"] + 0.5 * v["w"]) ** 2) + 1e-10)

//--- adafactor.mlir
// Parameters with at least two axes have state for rows and columns. In the fourth step, a new moment has the weight 4^-0.8.
// CHECK: mtc.variable optimizer @w.row_moment2 : tensor<2x3x1xf32> = #mtc.zeros of @w
// CHECK-NEXT: mtc.variable optimizer @w.column_moment2 : tensor<2x1x5xf32> = #mtc.zeros of @w
// CHECK-NEXT: mtc.variable optimizer @b.moment2 : tensor<17xf32> = #mtc.zeros of @b
// CHECK-NOT: mtc.variable optimizer
// CHECK: mtc.read @w : tensor<2x3x5xf32>
mtc.variable parameter @w : tensor<2x3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<2x3x5xf32> = #mtc.zeros of @w
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.step = 4
// given @update @w.row_moment2 = 2
// given @update @w.column_moment2 = 3
// given @update @b.moment2 = 2
// expect @update @w.row_moment2 = 2 + 4 ** -0.8 * ((v["w.grad"] ** 2).mean(-1, keepdims=True) - 2)
// expect @update @w.column_moment2 = 3 + 4 ** -0.8 * ((v["w.grad"] ** 2).mean(-2, keepdims=True) - 3)
// expect @update @w = (lambda r, c: (lambda u: v["w"] * (1 - 0.25 * 0.5) - np.sqrt((v["w"] ** 2).mean()) * 0.25 / max(1, np.sqrt((u ** 2).mean())) * u)(v["w.grad"] / np.sqrt(r * c / r.mean(-2, keepdims=True))))(2 + 4 ** -0.8 * ((v["w.grad"] ** 2).mean(-1, keepdims=True) - 2), 3 + 4 ** -0.8 * ((v["w.grad"] ** 2).mean(-2, keepdims=True) - 3))
// expect @update @b.moment2 = 2 + 4 ** -0.8 * (v["b.grad"] ** 2 - 2)
// expect @update @b = (lambda u: v["b"] * (1 - 0.25 * 0.5) - np.sqrt((v["b"] ** 2).mean()) * 0.25 / max(1, np.sqrt((u ** 2).mean())) * u)(v["b.grad"] / np.sqrt(2 + 4 ** -0.8 * (v["b.grad"] ** 2 - 2)))

//--- nesterov.mlir
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// expect @update @w.velocity = 0.75 * v["w.velocity"] + v["w.grad"] + 0.5 * v["w"]
// expect @update @w = v["w"] - 0.25 * (v["w.grad"] + 0.5 * v["w"] + 0.75 * (0.75 * v["w.velocity"] + v["w.grad"] + 0.5 * v["w"]))

//--- clip.mlir
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// expect @update @w = v["w"] - 0.25 * np.clip(v["w.grad"], -0.5, 0.5)

//--- average.mlir
// CHECK: mtc.variable average @w.ema : tensor<3x5xf32> = #mtc.as_parameter of @w
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
// given @update @mtc.learning_rate = 0.25
// expect @update @w = v["w"] - 0.25 * v["w.grad"]
// expect @update @w.ema = 0.75 * v["w.ema"] + 0.25 * (v["w"] - 0.25 * v["w.grad"])
