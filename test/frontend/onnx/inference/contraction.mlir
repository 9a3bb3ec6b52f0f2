// Matrix multiplications.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @matMul
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[19, 22], [43, 50]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @matMul() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %b = onnx.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %r = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Batches broadcast.
// CHECK-LABEL: onnx.graph @matMulBatches
// CHECK: onnx.node "MatMul"
// CHECK-SAME: -> tensor<5x4x2x6xf32>{{$}}
onnx.graph @matMulBatches(%a: tensor<5x1x2x3xf32>, %b: tensor<4x3x6xf32>) -> tensor<*xindex> {
  %r = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<5x1x2x3xf32>, tensor<4x3x6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @matMulVector
// CHECK: onnx.node "MatMul"
// CHECK-SAME: -> tensor<4x2xf32>{{$}}
onnx.graph @matMulVector(%a: tensor<4x2x3xf32>, %b: tensor<3xf32>) -> tensor<*xindex> {
  %r = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<4x2x3xf32>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @matMulVectors
// CHECK: onnx.node "MatMul"
// CHECK-SAME: -> tensor<f32>{{$}}
onnx.graph @matMulVectors(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<*xindex> {
  %r = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<3xf32>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gemm
// CHECK: onnx.node "Gemm"
// CHECK-SAME: -> tensor<2x4xf32>{{$}}
onnx.graph @gemm(%a: tensor<3x2xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf32>) -> tensor<*xindex> {
  %r = onnx.node "Gemm" version 13 (%a, %b, %c) {transA = 1 : si64, transB = 1 : si64} : (tensor<3x2xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Labels that are not in the result are summed over.
// CHECK-LABEL: onnx.graph @einsum
// CHECK: onnx.node "Einsum"
// CHECK-SAME: -> tensor<2x3x5xf32>{{$}}
onnx.graph @einsum(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<*xindex> {
  %r = onnx.node "Einsum" version 12 (%a, %b) {equation = "bij, bjk -> bik"} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @einsumImplicit
// CHECK: onnx.node "Einsum"
// CHECK-SAME: -> tensor<5x3xf32>{{$}}
onnx.graph @einsumImplicit(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<*xindex> {
  %r = onnx.node "Einsum" version 12 (%a, %b) {equation = "kj,ji"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @einsumEllipsis
// CHECK: onnx.node "Einsum"
// CHECK-SAME: -> tensor<7x6x3x5xf32>{{$}}
onnx.graph @einsumEllipsis(%a: tensor<7x1x3x4xf32>, %b: tensor<6x4x5xf32>) -> tensor<*xindex> {
  %r = onnx.node "Einsum" version 12 (%a, %b) {equation = "...ij,...jk->...ik"} : (tensor<7x1x3x4xf32>, tensor<6x4x5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @matMulInteger
// CHECK: onnx.node "MatMulInteger"
// CHECK-SAME: -> tensor<2x4xi32>{{$}}
onnx.graph @matMulInteger(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>) -> tensor<*xindex> {
  %r = onnx.node "MatMulInteger" version 10 (%a, %b) {} : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}
