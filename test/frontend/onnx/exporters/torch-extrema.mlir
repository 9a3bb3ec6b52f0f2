// RUN: mtc-opt %s --onnx-form-torch-extrema --split-input-file | FileCheck %s

// A clamp by numbers is a Clip, also with only a lower or an upper bound.

// CHECK-LABEL: onnx.graph @numbers
// CHECK: %[[LOW:.*]] = onnx.node "Clip" version 13(%{{.*}}, %{{.*}}) {}
// CHECK: %[[NONE:.*]] = onnx.none
// CHECK: %[[BOTH:.*]] = onnx.node "Clip" version 13(%[[LOW]], %[[NONE]], %{{.*}}) {}
// CHECK: onnx.return %[[BOTH]]
onnx.graph @numbers(%x: tensor<4xf32>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<4xf32> {
  %0 = onnx.node "Max" version 13 (%x, %a) {} {onnx.fx_operator = "aten.clamp.Tensor", onnx.arguments = ["%x", "%scalar_tensor_default", "%scalar_tensor_default_1"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.node "Min" version 13 (%0, %b) {} {onnx.fx_operator = "aten.clamp.Tensor", onnx.arguments = ["%x", "%scalar_tensor_default", "%scalar_tensor_default_1"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  onnx.return %1 : tensor<4xf32>
}

// -----

// A clamp by tensors and a maximum share the gradient of equal elements.

// CHECK-LABEL: onnx.graph @tensors
// CHECK: onnx.node "Max" version 13
// CHECK: onnx.node "Max" version 13
// CHECK: onnx.node "Min" version 13
// CHECK-NOT: "Clip"
onnx.graph @tensors(%x: tensor<4xf32>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<4xf32> {
  %0 = onnx.node "Max" version 13 (%x, %a) {} {onnx.fx_operator = "aten.maximum.default", onnx.arguments = ["%x", "%scalar_tensor_default"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.node "Clip" version 13 (%0, %a, %b) {} {onnx.fx_operator = "aten.clamp.Tensor", onnx.arguments = ["%x", "a", "%lifted"]} : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  onnx.return %1 : tensor<4xf32>
}

// -----

// For max along an axis, the first of equal elements has the gradient; for amax, all of them share it.

// CHECK-LABEL: onnx.graph @first
// CHECK: onnx.node "ReduceMax" {{.*}}onnx.first_extremum
// CHECK: onnx.node "ReduceMin" {{.*}}onnx.first_extremum
// CHECK: onnx.node "ReduceMax"
// CHECK-NOT: onnx.first_extremum
// CHECK: onnx.return
onnx.graph @first(%x: tensor<4xf32>, %axes: tensor<1xi64>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = onnx.node "ReduceMax" version 18 (%x, %axes) {keepdims = 0 : si64} {onnx.fx_operator = "aten.max.dim"} : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  %1 = onnx.node "ReduceMin" version 18 (%x, %axes) {keepdims = 0 : si64} {onnx.fx_operator = "aten.min.dim"} : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  %2 = onnx.node "ReduceMax" version 18 (%x, %axes) {keepdims = 0 : si64} {onnx.fx_operator = "aten.amax.default"} : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  onnx.return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}
