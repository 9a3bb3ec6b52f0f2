// RUN: mtc-opt %s --onnx-mark-straight-through-clips --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-mark-straight-through-clips --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=NOTE

// NOTE: remark: the gradient passes through the bound, as in PyTorch's gaussian_nll_loss
// NOTE-NOT: remark:

// The variance of a Gaussian likelihood.

// CHECK-LABEL: onnx.graph @likelihood
// CHECK: onnx.node "Clip" {{.*}}onnx.straight_through
onnx.graph @likelihood(%x: tensor<4xf32>, %t: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %eps = onnx.constant dense<1.0e-06> : tensor<f32> -> tensor<f32>
  %two = onnx.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %v = onnx.node "Clip" version 13 (%s, %eps) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = onnx.node "Log" version 13 (%v) {} : (tensor<4xf32>) -> tensor<4xf32>
  %d = onnx.node "Sub" version 14 (%x, %t) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = onnx.node "Pow" version 15 (%d, %two) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = onnx.node "Div" version 14 (%q, %v) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Add" version 14 (%l, %r) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

// The same nodes are kept if the module itself clamps, or if only the logarithm of a Clip is computed.

// CHECK-LABEL: onnx.graph @own
// CHECK-NOT: onnx.straight_through
onnx.graph @own(%x: tensor<4xf32>, %t: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %eps = onnx.constant dense<1.0e-06> : tensor<f32> -> tensor<f32>
  %two = onnx.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %v = onnx.node "Clip" version 13 (%s, %eps) {} {onnx.fx_operator = "aten.clamp.default"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = onnx.node "Log" version 13 (%v) {} : (tensor<4xf32>) -> tensor<4xf32>
  %d = onnx.node "Sub" version 14 (%x, %t) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = onnx.node "Pow" version 15 (%d, %two) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = onnx.node "Div" version 14 (%q, %v) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Add" version 14 (%l, %r) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

// The norms of a cosine similarity.

// CHECK-LABEL: onnx.graph @cosine
// CHECK-COUNT-2: onnx.node "Clip" {{.*}}onnx.straight_through
onnx.graph @cosine(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %axes: tensor<1xi64>) -> tensor<4xf32> {
  %eps = onnx.constant dense<1.0e-08> : tensor<f32> -> tensor<f32>
  %n = onnx.node "ReduceL2" version 18 (%x, %axes) {} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %m = onnx.node "ReduceL2" version 18 (%y, %axes) {} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %copy = onnx.node "Identity" version 13 (%n) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %nc = onnx.node "Clip" version 13 (%copy, %eps) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %mc = onnx.node "Clip" version 13 (%m, %eps) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %a = onnx.node "Div" version 14 (%x, %nc) {} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %b = onnx.node "Div" version 14 (%y, %mc) {} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %p = onnx.node "Mul" version 14 (%a, %b) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = onnx.node "ReduceSum" version 13 (%p, %axes) {keepdims = 0 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
  onnx.return %s : tensor<4xf32>
}
