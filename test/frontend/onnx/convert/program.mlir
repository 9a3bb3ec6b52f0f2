// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// The graph's names are kept; initializers become variables by role, and are read once, at their first use.

// CHECK: mtc.variable {{ *}}parameter @fc.weight : tensor<10x64xf32> = #mtc.initializer<"fc.weight"> {module_name = "net.fc.weight"}
// CHECK: mtc.variable {{ *}}constant @scale : tensor<10xf32> = #mtc.initializer<"scale">
// CHECK: mtc.variable {{ *}}state @mean : tensor<10xf32> = #mtc.initializer<"mean">
// CHECK: func.func @forward(%[[X:.*]]: tensor<8x64xf32> {mtc.name = "x"}) -> (tensor<8x10xf32> {mtc.name = "logits"}, tensor<10xf32> {mtc.name = "s"})
// CHECK: %[[W:.*]] = mtc.read @fc.weight
// CHECK: %[[Y:.*]] = mtc.contract %[[X]], %[[W]] batch [] x [] over [1] x [1]
// CHECK: %[[S:.*]] = mtc.read @scale
// CHECK: %[[R:.*]] = mtc.broadcast %[[S]] axes [0]
// CHECK: %[[Z:.*]] = mtc.mul %[[Y]], %[[R]]
// CHECK: %[[M:.*]] = mtc.read @mean
// CHECK: %[[D:.*]] = mtc.sub %[[S]], %[[M]]
// CHECK: return %[[Z]], %[[D]]
// CHECK-NOT: onnx.graph
onnx.graph @main(%x: tensor<8x64xf32> {onnx.name = "x"})
    -> (tensor<8x10xf32> {onnx.name = "logits"}, tensor<10xf32> {onnx.name = "s"}) {
  %w = onnx.initializer "fc.weight" {role = "parameter", module_name = "net.fc.weight"} : tensor<10x64xf32>
  %s = onnx.initializer "scale" {role = "constant"} : tensor<10xf32>
  %m = onnx.initializer "mean" {role = "state"} : tensor<10xf32>
  %unused = onnx.initializer "unused" {role = "parameter"} : tensor<4xf32>
  %y = onnx.node "Gemm" version 13 (%x, %w) {transB = 1 : si64} : (tensor<8x64xf32>, tensor<10x64xf32>) -> tensor<8x10xf32>
  %z = onnx.node "Mul" version 14 (%y, %s) {} : (tensor<8x10xf32>, tensor<10xf32>) -> tensor<8x10xf32>
  %d = onnx.node "Sub" version 14 (%s, %m) {} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  onnx.return %z, %d : tensor<8x10xf32>, tensor<10xf32>
}

// -----

// An initializer may have the function's name.

// CHECK: mtc.variable {{ *}}parameter @forward.1 : tensor<2xf32> = #mtc.initializer<"forward">
// CHECK: func.func @forward
// CHECK: mtc.read @forward.1
onnx.graph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = onnx.initializer "forward" {role = "parameter"} : tensor<2xf32>
  %y = onnx.node "Add" version 14 (%x, %w) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.return %y : tensor<2xf32>
}

// -----

// A constant that is equal along axes is stored without these axes.

// CHECK-LABEL: func.func @forward(%{{.*}}: tensor<2x1x2x2xf32>
// CHECK: %[[M:.*]] = mtc.constant dense<{{\[}}[true, false], [true, true]]> : tensor<2x2xi1>
// CHECK: mtc.broadcast %[[M]] axes [0, 1] : tensor<2x2xi1> -> tensor<2x1x2x2xi1>
onnx.graph @main(%x: tensor<2x1x2x2xf32>, %y: tensor<2x1x2x2xf32>) -> tensor<2x1x2x2xf32> {
  %m = onnx.constant dense<[[[[true, false], [true, true]]], [[[true, false], [true, true]]]]> : tensor<2x1x2x2xi1> -> tensor<2x1x2x2xi1>
  %z = onnx.node "Where" version 16 (%m, %x, %y) {} : (tensor<2x1x2x2xi1>, tensor<2x1x2x2xf32>, tensor<2x1x2x2xf32>) -> tensor<2x1x2x2xf32>
  onnx.return %z : tensor<2x1x2x2xf32>
}

// -----

// Constant indices keep all axes.

// CHECK-LABEL: func.func @forward(%{{.*}}: tensor<4x3xf32>
// CHECK: %[[I:.*]] = mtc.constant dense<{{\[}}[0, 1], [0, 1]]> : tensor<2x2xi64>
// CHECK: mtc.gather %{{.*}}, %[[I]] axis 0 batch 0
onnx.graph @main(%x: tensor<4x3xf32>) -> tensor<2x2x3xf32> {
  %i = onnx.constant dense<[[0, 1], [0, 1]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %y = onnx.node "Gather" version 13 (%x, %i) {axis = 0 : si64} : (tensor<4x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  onnx.return %y : tensor<2x2x3xf32>
}

// -----

// Operands that only determine a shape leave no constant; results without elements are constants.

// CHECK-LABEL: func.func @forward(%{{.*}}: tensor<2x3xf32>
// CHECK-NEXT: mtc.reshape
// CHECK-NEXT: mtc.constant dense<> : tensor<0x3xf32>
// CHECK-NEXT: return
onnx.graph @main(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<0x3xf32>) {
  %s = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "Reshape" version 14 (%x, %s) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %a = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %e = onnx.node "Slice" version 13 (%x, %a, %a) {} : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<0x3xf32>
  onnx.return %y, %e : tensor<6xf32>, tensor<0x3xf32>
}

// -----

// The images describe how the user's module and the exported file store a parameter.

// CHECK: mtc.variable {{ *}}parameter @val_1 : tensor<2x2xf32> = #mtc.initializer<"val_1"> {file_images = [#mtc.tensor_image<"copy", shape = [2, 2]>], module_images = [#mtc.tensor_image<"fc.weight", shape = [4]>]}
onnx.graph @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = onnx.initializer "val_1" {role = "parameter", module_images = [#mtc.tensor_image<"fc.weight", shape = [4]>],
                                 file_images = [#mtc.tensor_image<"copy", shape = [2, 2]>]} : tensor<2x2xf32>
  %y = onnx.node "Add" version 14 (%x, %w) {} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.return %y : tensor<2x2xf32>
}

// -----

// The elements of a constant repeat along axes with an extent of 1.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[R:.*]] = mtc.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = mtc.broadcast %[[R]] axes [0] : tensor<2xf32> -> tensor<3x2xf32>
// CHECK-DAG: %[[S:.*]] = mtc.constant dense<4.000000e+00> : tensor<3x2xf32>
// CHECK-DAG: %[[I:.*]] = mtc.constant dense<{{\[\[}}5, 6], [5, 6], [5, 6]]> : tensor<3x2xi64>
// CHECK-DAG: %[[P:.*]] = mtc.constant dense<{{\[\[}}7, -8], [7, -8]]> : tensor<2x2xi8>
// CHECK: return %[[B]], %[[S]], %[[I]], %[[P]]
onnx.graph @main() -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xi64>, tensor<2x2xi4>) {
  %r = onnx.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32> -> tensor<3x2xf32>
  %s = onnx.constant dense<4.0> : tensor<1x2xf32> -> tensor<3x2xf32>
  %i = onnx.constant dense<[[5, 6]]> : tensor<1x2xi64> -> tensor<3x2xi64>
  %p = onnx.constant dense<[[7, -8]]> : tensor<1x2xi4> -> tensor<2x2xi4>
  onnx.return %r, %s, %i, %p : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xi64>, tensor<2x2xi4>
}
