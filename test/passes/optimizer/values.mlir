// The effect of one update on parameters and state, by the optimizers' formulas.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/sgd.mlir --mtc-optimizer="optimizer=sgd weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/sgd.mlir
// RUN: mtc-opt %t/momentum.mlir --mtc-optimizer="optimizer=momentum momentum=0.75 weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/momentum.mlir
// RUN: mtc-opt %t/adamw.mlir --mtc-optimizer="optimizer=adamw weight-decay=0.5 no-decay-1d" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/adamw.mlir
// RUN: mtc-opt %t/adam.mlir --mtc-optimizer="optimizer=adam weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/adam.mlir
// RUN: mtc-opt %t/lion.mlir --mtc-optimizer="optimizer=lion weight-decay=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/lion.mlir
// RUN: mtc-opt %t/clip.mlir --mtc-optimizer="optimizer=sgd clip-norm=0.5" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/clip.mlir
// RUN: mtc-opt %t/short.mlir --mtc-optimizer="optimizer=sgd clip-norm=1000" --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/short.mlir

//--- sgd.mlir
// The parameters have 15 and 17 elements, which do not fill their padding.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// expect @update @w = v["w"] - 0.25 * (v["w.grad"] + 0.5 * v["w"])
// expect @update @b = v["b"] - 0.25 * (v["b.grad"] + 0.5 * v["b"])

//--- momentum.mlir
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// expect @update @w.velocity = 0.75 * v["w.velocity"] + v["w.grad"] + 0.5 * v["w"]
// expect @update @w = v["w"] - 0.25 * (0.75 * v["w.velocity"] + v["w.grad"] + 0.5 * v["w"])
// expect @update @b.velocity = 0.75 * v["b.velocity"] + v["b.grad"] + 0.5 * v["b"]
// expect @update @b = v["b"] - 0.25 * (0.75 * v["b.velocity"] + v["b.grad"] + 0.5 * v["b"])

//--- adamw.mlir
// The third step. One-dimensional parameters do not decay.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.step = 3
// given @update @w.moment2 = 0.5
// expect @update @w.moment1 = 0.9 * v["w.moment1"] + 0.1 * v["w.grad"]
// expect @update @w.moment2 = 0.999 * v["w.moment2"] + 0.001 * v["w.grad"] ** 2
// expect @update @w = v["w"] * (1 - 0.25 * 0.5) - 0.25 / (1 - 0.9 ** 3) * (0.9 * v["w.moment1"] + 0.1 * v["w.grad"]) / (np.sqrt((0.999 * v["w.moment2"] + 0.001 * v["w.grad"] ** 2) / (1 - 0.999 ** 3)) + 1e-8)
// given @update @b.moment2 = 0.5
// expect @update @b.moment1 = 0.9 * v["b.moment1"] + 0.1 * v["b.grad"]
// expect @update @b.moment2 = 0.999 * v["b.moment2"] + 0.001 * v["b.grad"] ** 2
// expect @update @b = v["b"] - 0.25 / (1 - 0.9 ** 3) * (0.9 * v["b.moment1"] + 0.1 * v["b.grad"]) / (np.sqrt((0.999 * v["b.moment2"] + 0.001 * v["b.grad"] ** 2) / (1 - 0.999 ** 3)) + 1e-8)

//--- adam.mlir
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// given @update @mtc.step = 3
// given @update @w.moment2 = 0.5
// expect @update @w.moment1 = 0.9 * v["w.moment1"] + 0.1 * (v["w.grad"] + 0.5 * v["w"])
// expect @update @w.moment2 = 0.999 * v["w.moment2"] + 0.001 * (v["w.grad"] + 0.5 * v["w"]) ** 2
// expect @update @w = v["w"] - 0.25 / (1 - 0.9 ** 3) * (0.9 * v["w.moment1"] + 0.1 * (v["w.grad"] + 0.5 * v["w"])) / (np.sqrt((0.999 * v["w.moment2"] + 0.001 * (v["w.grad"] + 0.5 * v["w"]) ** 2) / (1 - 0.999 ** 3)) + 1e-8)
// given @update @b.moment2 = 0.5
// expect @update @b.moment1 = 0.9 * v["b.moment1"] + 0.1 * (v["b.grad"] + 0.5 * v["b"])
// expect @update @b.moment2 = 0.999 * v["b.moment2"] + 0.001 * (v["b.grad"] + 0.5 * v["b"]) ** 2
// expect @update @b = v["b"] - 0.25 / (1 - 0.9 ** 3) * (0.9 * v["b.moment1"] + 0.1 * (v["b.grad"] + 0.5 * v["b"])) / (np.sqrt((0.999 * v["b.moment2"] + 0.001 * (v["b.grad"] + 0.5 * v["b"]) ** 2) / (1 - 0.999 ** 3)) + 1e-8)

//--- lion.mlir
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// expect @update @w.moment1 = 0.99 * v["w.moment1"] + 0.01 * v["w.grad"]
// expect @update @w = v["w"] * (1 - 0.25 * 0.5) - 0.25 * np.sign(0.9 * v["w.moment1"] + 0.1 * v["w.grad"])
// expect @update @b.moment1 = 0.99 * v["b.moment1"] + 0.01 * v["b.grad"]
// expect @update @b = v["b"] * (1 - 0.25 * 0.5) - 0.25 * np.sign(0.9 * v["b.moment1"] + 0.1 * v["b.grad"])

//--- clip.mlir
// The norm of all gradients together is about 5: both are scaled by the same number.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// expect @update @w = v["w"] - 0.25 * v["w.grad"] * 0.5 / np.sqrt((v["w.grad"] ** 2).sum() + (v["b.grad"] ** 2).sum())
// expect @update @b = v["b"] - 0.25 * v["b.grad"] * 0.5 / np.sqrt((v["w.grad"] ** 2).sum() + (v["b.grad"] ** 2).sum())

//--- short.mlir
// A gradient below the limit does not change.
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
// given @update @mtc.learning_rate = 0.25
// expect @update @w = v["w"] - 0.25 * v["w.grad"]
// expect @update @b = v["b"] - 0.25 * v["b.grad"]
