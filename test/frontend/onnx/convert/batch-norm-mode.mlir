// --batch-norm selects the form, for nodes in either form.
// RUN: mtc-opt %s --convert-onnx-to-mtc=batch-norm=train | FileCheck %s --check-prefixes=CHECK,TRAIN
// RUN: mtc-opt %s --convert-onnx-to-mtc=batch-norm=frozen | FileCheck %s --check-prefixes=CHECK,FROZEN
// RUN: not mtc-opt %S/inputs/one-value-per-channel.mlir --convert-onnx-to-mtc=batch-norm=train 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: mtc-opt %S/inputs/one-value-per-channel.mlir --convert-onnx-to-mtc=batch-norm=as-exported 2>&1 | FileCheck %s --check-prefix=FIXED

// PyTorch's running variance divides by N - 1: with 8 values per channel, it is 8/7 times that of N.
// CHECK-LABEL: func.func @forward
// TRAIN: mtc.select_by_mode training
// TRAIN: mtc.constant dense<1.14285719> : tensor<3xf32>
// TRAIN: mtc.write @m,
// TRAIN: mtc.write @v,
// TRAIN: mtc.select_by_mode training
// TRAIN: mtc.constant dense<1.14285719> : tensor<3xf32>
// TRAIN: mtc.write @m2,
// TRAIN: mtc.write @v2,
// FROZEN: %[[V:.*]] = mtc.read @v : tensor<3xf32>
// FROZEN: %[[M:.*]] = mtc.read @m : tensor<3xf32>
// FROZEN: %[[V2:.*]] = mtc.read @v2 : tensor<3xf32>
// FROZEN-NOT: mtc.select_by_mode
// FROZEN-NOT: mtc.write
// FROZEN: return %{{.*}}, %[[M]], %[[V]]
onnx.graph @main(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %m = onnx.initializer "m" {role = "state"} : tensor<3xf32>
  %v = onnx.initializer "v" {role = "state"} : tensor<3xf32>
  %m2 = onnx.initializer "m2" {role = "state"} : tensor<3xf32>
  %v2 = onnx.initializer "v2" {role = "state"} : tensor<3xf32>
  %y, %rm, %rv = onnx.node "BatchNormalization" version 15 (%x, %g, %b, %m, %v) {training_mode = 1 : si64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %z = onnx.node "BatchNormalization" version 15 (%y, %g, %b, %m2, %v2) {} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  onnx.return %z, %rm, %rv : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>
}

// ONE: BatchNormalization version 15: --batch-norm train: a step has 1 value per channel, expected at least 2
// FIXED: BatchNormalization: operand 3 (input_mean) is not an initializer, so training does not update it
// FIXED: BatchNormalization: a step has 1 value per channel, so the result is the bias
