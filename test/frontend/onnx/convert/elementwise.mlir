// RUN: mtc-opt %s --convert-onnx-to-mtc | FileCheck %s

// Broadcasts are explicit; each operator becomes its expression.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x3xf32>, %[[Y:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<4x3xi64>)
onnx.graph @main(%x: tensor<4x3xf32>, %y: tensor<3xf32>, %i: tensor<4x3xi64>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xi64>,
        tensor<4x3xi64>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>) {
  // CHECK: %[[B:.*]] = mtc.broadcast %[[Y]] axes [0]
  // CHECK: mtc.add %[[X]], %[[B]]
  %add = onnx.node "Add" version 14 (%x, %y) {} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>

  // CHECK: mtc.max
  // CHECK: mtc.max
  %max = onnx.node "Max" version 13 (%x, %y, %add) {} : (tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>

  // CHECK: %[[ONE:.*]] = mtc.constant dense<1.000000e+00>
  // CHECK: mtc.div %[[ONE]], %[[X]]
  %reciprocal = onnx.node "Reciprocal" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>

  // CHECK: %[[LE:.*]] = mtc.compare le %[[X]], %{{.*}}
  %le = onnx.node "LessOrEqual" version 16 (%x, %y) {} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xi1>

  // CHECK: mtc.select %[[LE]], %{{.*}}, %[[X]]
  %where = onnx.node "Where" version 16 (%le, %y, %x) {} : (tensor<4x3xi1>, tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>

  // CHECK: mtc.cast %[[X]] : tensor<4x3xf32> -> tensor<4x3xi64>
  %cast = onnx.node "Cast" version 19 (%x) {to = 7 : si64} : (tensor<4x3xf32>) -> tensor<4x3xi64>

  // The remainder takes the divisor's sign.
  // CHECK: %[[R:.*]] = mtc.rem %[[I]], %{{.*}}
  // CHECK: %[[XOR:.*]] = mtc.xor
  // CHECK: %[[NE:.*]] = mtc.compare ne %[[R]]
  // CHECK: %[[WRONG:.*]] = mtc.and %[[NE]], %[[XOR]]
  // CHECK: %[[FIXED:.*]] = mtc.add %[[R]], %{{.*}}
  // CHECK: mtc.select %[[WRONG]], %[[FIXED]], %[[R]]
  %mod = onnx.node "Mod" version 13 (%i, %cast) {} : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi64>

  // CHECK: mtc.rem %[[X]], %{{.*}} : tensor<4x3xf32>
  // CHECK-NOT: mtc.xor
  %fmod = onnx.node "Mod" version 13 (%x, %y) {fmod = 1 : si64} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>

  // CHECK: %[[XY:.*]] = mtc.add %[[X]], %{{.*}}
  // CHECK: %[[HALF:.*]] = mtc.constant dense<5.000000e-01>
  // CHECK: mtc.mul %[[XY]], %[[HALF]]
  %mean = onnx.node "Mean" version 13 (%x, %y) {} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>

  // CHECK: %[[NEG:.*]] = mtc.neg %[[X]]
  // CHECK: %[[INF:.*]] = mtc.constant dense<0x7F800000>
  // CHECK: mtc.compare eq %[[NEG]], %[[INF]]
  %isinf = onnx.node "IsInf" version 20 (%x) {detect_positive = 0 : si64} : (tensor<4x3xf32>) -> tensor<4x3xi1>

  // CHECK: mtc.floor %[[X]]
  %floor = onnx.node "Floor" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>

  onnx.return %add, %max, %reciprocal, %le, %where, %cast, %mod, %fmod, %mean, %isinf, %floor
    : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xi64>,
      tensor<4x3xi64>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>
}
