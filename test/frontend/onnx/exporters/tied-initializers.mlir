// RUN: mtc-opt %s --split-input-file --onnx-tie-initializers 2>/dev/null | FileCheck %s
// RUN: mtc-opt %s --split-input-file --onnx-tie-initializers 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A transposed copy is replaced by a transpose of the kept initializer, which records it.
// REMARK: remark: initializers 'embed.weight' and 'val_0' are one weight, one transposed (both are the module's 'embed.weight'); use --untie val_0 to train them separately
// CHECK-LABEL: onnx.graph @transposed
// CHECK: %[[E:.*]] = onnx.initializer "embed.weight" {
// CHECK-SAME: file_images = [#mtc.tensor_image<"val_0", shape = [2, 3], parts = [
// CHECK-NOT: onnx.initializer "val_0"
// CHECK: %[[T:.*]] = onnx.node "Transpose" version 13(%[[E]]) {perm = array<i64: 1, 0>}
// CHECK: "MatMul" version 13(%{{.*}}, %[[T]])
onnx.graph @transposed(%x: tensor<4xi64>) -> (tensor<4x3xf32>) attributes {onnx.signature = ["embed.weight"]} {
  %e = onnx.initializer "embed.weight" {kind = "PARAMETER", onnx.digest = "a", onnx.transposed_digest = "b"} : tensor<3x2xf32>
  %h = onnx.initializer "val_0" {onnx.digest = "b", onnx.folded_from = ["embed.weight"], onnx.transposed_digest = "a"} : tensor<2x3xf32>
  %0 = onnx.node "Gather" version 13 (%e, %x) {} : (tensor<3x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  %1 = onnx.node "MatMul" version 13 (%0, %h) {} : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  onnx.return %1 : tensor<4x3xf32>
}

// -----

// A copy with another shape is replaced by a reshape.
// REMARK: remark: initializers 'weight' and 'kernel' are one weight (both are the module's 'weight')
// CHECK-LABEL: onnx.graph @reshaped
// CHECK: %[[W:.*]] = onnx.initializer "weight" {file_images = [#mtc.tensor_image<"kernel", shape = [3, 2, 1]>]
// CHECK: %[[S:.*]] = onnx.constant dense<[3, 2, 1]> : tensor<3xsi64>
// CHECK: onnx.node "Reshape" version 14(%[[W]], %[[S]])
onnx.graph @reshaped(%x: tensor<4x3xf32>, %y: tensor<1x2x5xf32>) -> (tensor<4x2xf32>, tensor<1x3x5xf32>) attributes {onnx.signature = ["weight"]} {
  %w = onnx.initializer "weight" {kind = "PARAMETER", onnx.digest = "a"} : tensor<3x2xf32>
  %k = onnx.initializer "kernel" {onnx.digest = "a", onnx.folded_from = ["weight"]} : tensor<3x2x1xf32>
  %0 = onnx.node "MatMul" version 13 (%x, %w) {} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %1 = onnx.node "Conv" version 11 (%y, %k) {} : (tensor<1x2x5xf32>, tensor<3x2x1xf32>) -> tensor<1x3x5xf32>
  onnx.return %0, %1 : tensor<4x2xf32>, tensor<1x3x5xf32>
}
