// Every operation of ShapeOps.td in the form of the example in its record.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<4xf32>, tensor<2xi64>, tensor<4x8xi64>) {
  // CHECK: mtc.constant dense<5.000000e-01> : tensor<4xf32>
  %c = mtc.constant dense<0.5> : tensor<4xf32>
  // CHECK: mtc.constant dense<[1, 2]> : tensor<2xi64>
  %d = mtc.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK: mtc.iota 1 : tensor<4x8xi64>
  %i = mtc.iota 1 : tensor<4x8xi64>
  return %c, %d, %i : tensor<4xf32>, tensor<2xi64>, tensor<4x8xi64>
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4xf32>) -> tensor<8x4x16xf32> {
  // CHECK: mtc.broadcast %{{.*}} axes [0, 2] : tensor<4xf32> -> tensor<8x4x16xf32>
  %b = mtc.broadcast %x axes [0, 2] : tensor<4xf32> -> tensor<8x4x16xf32>
  return %b : tensor<8x4x16xf32>
}

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<2x12xf32> {
  // CHECK: mtc.reshape %{{.*}} : tensor<4x6xf32> -> tensor<2x12xf32>
  %r = mtc.reshape %x : tensor<4x6xf32> -> tensor<2x12xf32>
  return %r : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  // CHECK: mtc.transpose %{{.*}} [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %t = mtc.transpose %x [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  return %t : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<4x12xf32>) -> tensor<4x3xf32> {
  // CHECK: mtc.slice %{{.*}} offsets [0, 2] strides [1, 3] : tensor<4x12xf32> -> tensor<4x3xf32>
  %s = mtc.slice %x offsets [0, 2] strides [1, 3] : tensor<4x12xf32> -> tensor<4x3xf32>
  return %s : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<4xf32>, %n: tensor<2xi64>) -> (tensor<10xf32>, tensor<3xi64>) {
  // CHECK: mtc.pad %{{.*}} low [1] high [2] interior [1] value 0.000000e+00 : f32 : tensor<4xf32> -> tensor<10xf32>
  %p = mtc.pad %x low [1] high [2] interior [1] value 0.0 : f32 : tensor<4xf32> -> tensor<10xf32>
  // CHECK: mtc.pad %{{.*}} low [0] high [1] interior [0] value -1 : i64 : tensor<2xi64> -> tensor<3xi64>
  %q = mtc.pad %n low [0] high [1] interior [0] value -1 : i64 : tensor<2xi64> -> tensor<3xi64>
  return %p, %q : tensor<10xf32>, tensor<3xi64>
}

// CHECK-LABEL: func.func @reverse
func.func @reverse(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: mtc.reverse %{{.*}} axes [0] : tensor<4x8xf32>
  %r = mtc.reverse %x axes [0] : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @concatenate
func.func @concatenate(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> tensor<2x8xf32> {
  // CHECK: mtc.concatenate %{{.*}}, %{{.*}} axis 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %c = mtc.concatenate %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  return %c : tensor<2x8xf32>
}

// Scalars are tensors of rank 0: lists of axes are empty.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: mtc.transpose %{{.*}} [] : tensor<f32> -> tensor<f32>
  %t = mtc.transpose %x [] : tensor<f32> -> tensor<f32>
  // CHECK: mtc.slice %{{.*}} offsets [] strides [] : tensor<f32> -> tensor<f32>
  %s = mtc.slice %t offsets [] strides [] : tensor<f32> -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK-LABEL: func.func @strided_view
func.func @strided_view(%x: tensor<4x16xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: mtc.strided_view %{{.*}} offset 8 strides [16, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
  %v = mtc.strided_view %x offset 8 strides [16, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
  %y = mtc.contract %v, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
