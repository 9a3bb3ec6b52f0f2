// RUN: mtc-opt %s -mtc-keep-channels-last -canonicalize | FileCheck %s

// Between two convolutions, nothing is transposed; channels are the last axis of added, scaled and reduced values.
// CHECK-LABEL: func.func @block
// CHECK-NEXT: %[[X:.*]] = mtc.transpose %arg0 [0, 2, 3, 1]
// CHECK-NEXT: %[[C:.*]] = mtc.convolve %[[X]], %arg1
// CHECK-NEXT: %[[S:.*]] = mtc.reduce add %[[C]] axes [0, 1, 2] : tensor<2x6x6x4xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[SB:.*]] = mtc.broadcast %[[S]] axes [0, 1, 2] : tensor<4xf32> -> tensor<2x6x6x4xf32>
// CHECK-NEXT: %[[N:.*]] = mtc.sub %[[C]], %[[SB]]
// CHECK-NEXT: %[[B:.*]] = mtc.broadcast %arg2 axes [0, 1, 2] : tensor<4xf32> -> tensor<2x6x6x4xf32>
// CHECK-NEXT: %[[A:.*]] = mtc.add %[[N]], %[[B]]
// CHECK-NEXT: %[[R:.*]] = mtc.tanh %[[A]]
// CHECK-NEXT: %[[Z:.*]] = mtc.convolve %[[R]], %arg3
// CHECK-NEXT: %[[M:.*]] = mtc.reduce max %[[Z]] axes [1, 2] : tensor<2x4x4x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT: return %[[M]]
func.func @block(%x: tensor<2x3x6x6xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %v: tensor<5x4x3x3xf32>) -> tensor<2x5xf32> {
  %l = mtc.transpose %x [0, 2, 3, 1] : tensor<2x3x6x6xf32> -> tensor<2x6x6x3xf32>
  %c = mtc.convolve %l, %w before [1, 1] strides [1, 1] dilations [1, 1] : (tensor<2x6x6x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  %f = mtc.transpose %c [0, 3, 1, 2] : tensor<2x6x6x4xf32> -> tensor<2x4x6x6xf32>
  %s = mtc.reduce add %f axes [0, 2, 3] : tensor<2x4x6x6xf32> -> tensor<4xf32>
  %sb = mtc.broadcast %s axes [0, 2, 3] : tensor<4xf32> -> tensor<2x4x6x6xf32>
  %n = mtc.sub %f, %sb : tensor<2x4x6x6xf32>
  %bb = mtc.broadcast %b axes [0, 2, 3] : tensor<4xf32> -> tensor<2x4x6x6xf32>
  %a = mtc.add %n, %bb : tensor<2x4x6x6xf32>
  %r = mtc.tanh %a : tensor<2x4x6x6xf32>
  %k = mtc.transpose %r [0, 2, 3, 1] : tensor<2x4x6x6xf32> -> tensor<2x6x6x4xf32>
  %z = mtc.convolve %k, %v before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<5x4x3x3xf32>) -> tensor<2x4x4x5xf32>
  %g = mtc.transpose %z [0, 3, 1, 2] : tensor<2x4x4x5xf32> -> tensor<2x5x4x4xf32>
  %m = mtc.reduce max %g axes [2, 3] : tensor<2x5x4x4xf32> -> tensor<2x5xf32>
  return %m : tensor<2x5xf32>
}

// Users that need the order of the model read a transposed value. Other transposes are kept.
// CHECK-LABEL: func.func @stays
// CHECK: %[[C:.*]] = mtc.convolve
// CHECK-NEXT: %[[T:.*]] = mtc.tanh %[[C]]
// CHECK-NEXT: %[[F:.*]] = mtc.transpose %[[T]] [0, 2, 1]
// CHECK-NEXT: %[[R:.*]] = mtc.reshape %[[F]]
// CHECK-NEXT: %[[E:.*]] = mtc.transpose %arg2 [1, 0]
// CHECK-NEXT: %[[X:.*]] = mtc.exp %[[E]]
// CHECK-NEXT: return %[[R]], %[[X]]
func.func @stays(%x: tensor<2x6x3xf32>, %w: tensor<4x3x3xf32>, %e: tensor<2x3xf32>) -> (tensor<2x16xf32>, tensor<3x2xf32>) {
  %c = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x6x3xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  %f = mtc.transpose %c [0, 2, 1] : tensor<2x4x4xf32> -> tensor<2x4x4xf32>
  %t = mtc.tanh %f : tensor<2x4x4xf32>
  %r = mtc.reshape %t : tensor<2x4x4xf32> -> tensor<2x16xf32>
  %et = mtc.transpose %e [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %ex = mtc.exp %et : tensor<3x2xf32>
  return %r, %ex : tensor<2x16xf32>, tensor<3x2xf32>
}

// Both forms of a selection by mode are transposed.
// CHECK-LABEL: func.func @modes
// CHECK-NEXT: %[[C:.*]] = mtc.convolve
// CHECK-NEXT: %[[E:.*]] = mtc.tanh %[[C]]
// CHECK-NEXT: %[[Y:.*]] = mtc.select_by_mode training %[[E]] inference %[[C]] : tensor<2x3x4x5xf32>
// CHECK-NEXT: %[[T:.*]] = mtc.transpose %[[Y]] [0, 3, 1, 2]
// CHECK-NEXT: return %[[T]]
func.func @modes(%x: tensor<2x3x4x5xf32>, %w: tensor<5x1x1x1xf32>) -> tensor<2x5x3x4xf32> {
  %c = mtc.convolve %x, %w groups 5 before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x3x4x5xf32>, tensor<5x1x1x1xf32>) -> tensor<2x3x4x5xf32>
  %t = mtc.transpose %c [0, 3, 1, 2] : tensor<2x3x4x5xf32> -> tensor<2x5x3x4xf32>
  %e = mtc.tanh %t : tensor<2x5x3x4xf32>
  %y = mtc.select_by_mode training %e inference %t : tensor<2x5x3x4xf32>
  return %y : tensor<2x5x3x4xf32>
}
