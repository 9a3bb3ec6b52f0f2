// RUN: mtc-opt %s --onnx-form-safe-root --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-undo-exporters --split-input-file | FileCheck %s

// A standard deviation is the square root of a scaled mean of squares.

// CHECK-LABEL: onnx.graph @deviation
// CHECK: %[[SUM:.*]] = onnx.node "ReduceMean"
// CHECK: %[[SCALED:.*]] = onnx.node "Mul" version 14(%[[SUM]],
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "SafeRoot" version 1(%[[SCALED]]) {exponent = 5.000000e-01 : f64}
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @deviation(%d: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %axis = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %scale = onnx.constant dense<1.142857> : tensor<f32> -> tensor<f32>
  %s = onnx.node "Mul" version 14 (%d, %d) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = onnx.node "ReduceMean" version 18 (%s, %axis) {keepdims = 1 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %v = onnx.node "Mul" version 14 (%m, %scale) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %y = onnx.node "Sqrt" version 13 (%v) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  onnx.return %y : tensor<4x1xf32>
}

// -----

// The norm has another order than 2.

// CHECK-LABEL: onnx.graph @norm
// CHECK: onnx.node domain "mtc" "SafeRoot" version 1(%{{.*}}) {exponent = 0.3{{[0-9]*}} : f64}
onnx.graph @norm(%d: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %axis = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %three = onnx.constant dense<3.0> : tensor<f32> -> tensor<f32>
  %third = onnx.constant dense<0.33333334> : tensor<f32> -> tensor<f32>
  %a = onnx.node "Abs" version 13 (%d) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = onnx.node "Pow" version 15 (%a, %three) {} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %m = onnx.node "ReduceSum" version 13 (%s, %axis) {keepdims = 1 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %y = onnx.node "Pow" version 15 (%m, %third) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  onnx.return %y : tensor<4x1xf32>
}

// -----

// Distances computed by a contraction, whose squares may be rounded below 0.

// CHECK-LABEL: onnx.graph @distance
// CHECK: onnx.node domain "mtc" "SafeRoot"
onnx.graph @distance(%d: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %c = onnx.node "Clip" version 13 (%d, %zero) {} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %y = onnx.node "Sqrt" version 13 (%c) {} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  onnx.return %y : tensor<4x4xf32>
}

// -----

// Other square roots keep their infinite gradient at 0, as in PyTorch: those of an operand, of a sum of values that are not squares, and of
// a sum with an epsilon.

// CHECK-LABEL: onnx.graph @others
// CHECK-NOT: SafeRoot
// CHECK: onnx.return
onnx.graph @others(%d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %axis = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %epsilon = onnx.constant dense<1.0e-6> : tensor<f32> -> tensor<f32>
  %x = onnx.node "Sqrt" version 13 (%d) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = onnx.node "ReduceMean" version 18 (%d, %axis) {keepdims = 1 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %y = onnx.node "Sqrt" version 13 (%m) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %s = onnx.node "Mul" version 14 (%d, %d) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = onnx.node "ReduceMean" version 18 (%s, %axis) {keepdims = 1 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %e = onnx.node "Add" version 14 (%n, %epsilon) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %z = onnx.node "Sqrt" version 13 (%e) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  onnx.return %x, %y, %z : tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}
