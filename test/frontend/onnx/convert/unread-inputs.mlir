// RUN: mtc-opt %s --convert-onnx-to-mtc 2>&1 | FileCheck %s

// An input that only omitted outputs use is omitted, so that a program needs no data for it. Other unused inputs are kept.
// CHECK: remark: the output 'rows' is omitted:
// CHECK: remark: the input 'z' is omitted: only omitted outputs read it
// CHECK: func.func @forward(%{{.*}}: tensor<2x3xf32> {mtc.name = "x"}, %{{.*}}: tensor<4xf32> {mtc.name = "unused"}) -> (tensor<2x3xf32>
onnx.graph @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %z: tensor<4xf32> {onnx.name = "z"}, %unused: tensor<4xf32> {onnx.name = "unused"})
    -> (tensor<2x3xf32> {onnx.name = "y"}, tensor<4xf32> {onnx.name = "rows", onnx.optional}) {
  %y = onnx.node "Relu" version 14 (%x) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = onnx.node "Neg" version 13 (%z) {} : (tensor<4xf32>) -> tensor<4xf32>
  %o = onnx.node "Unknown" version 1 (%t) {} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y, %o : tensor<2x3xf32>, tensor<4xf32>
}
