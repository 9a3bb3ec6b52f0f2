// Forms of keys and masks that exporters write for particular batches and lengths.
//
// RUN: mtc-opt %s -pass-pipeline='builtin.module(func.func(mtc-recognize-attention))' | FileCheck %s

// Two transpositions cancel between which the batch axis of extent 1 is removed.
// CHECK-LABEL: func.func @one_sample
// CHECK: mtc.attention %arg0, %{{.*}}, %{{.*}} scale {{.*}} : (tensor<1x6x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>)
func.func @one_sample(%q: tensor<1x6x8x16xf32>, %k: tensor<1x2x8x16xf32>, %v: tensor<1x2x8x16xf32>) -> tensor<1x6x8x16xf32> {
  %k0 = mtc.broadcast %k axes [2] : tensor<1x2x8x16xf32> -> tensor<1x2x3x8x16xf32>
  %k1 = mtc.reshape %k0 : tensor<1x2x3x8x16xf32> -> tensor<1x6x8x16xf32>
  %k2 = mtc.transpose %k1 [0, 1, 3, 2] : tensor<1x6x8x16xf32> -> tensor<1x6x16x8xf32>
  %k3 = mtc.reshape %k2 : tensor<1x6x16x8xf32> -> tensor<6x16x8xf32>
  %k4 = mtc.transpose %k3 [0, 2, 1] : tensor<6x16x8xf32> -> tensor<6x8x16xf32>
  %k5 = mtc.reshape %k4 : tensor<6x8x16xf32> -> tensor<1x6x8x16xf32>
  %v0 = mtc.broadcast %v axes [2] : tensor<1x2x8x16xf32> -> tensor<1x2x3x8x16xf32>
  %v1 = mtc.reshape %v0 : tensor<1x2x3x8x16xf32> -> tensor<1x6x8x16xf32>
  %o, %l = mtc.attention %q, %k5, %v1 scale 0.25
    : (tensor<1x6x8x16xf32>, tensor<1x6x8x16xf32>, tensor<1x6x8x16xf32>) -> (tensor<1x6x8x16xf32>, tensor<1x6x8xf32>)
  return %o : tensor<1x6x8x16xf32>
}

// Transpositions that do not cancel exchange keys for other elements.
// CHECK-LABEL: func.func @exchanged
// CHECK: mtc.attention %arg0, %{{.*}}, %{{.*}} scale {{.*}} : (tensor<1x6x4x4xf32>, tensor<1x6x4x4xf32>, tensor<1x6x4x4xf32>)
func.func @exchanged(%q: tensor<1x6x4x4xf32>, %k: tensor<1x2x4x4xf32>, %v: tensor<1x2x4x4xf32>) -> tensor<1x6x4x4xf32> {
  %k0 = mtc.broadcast %k axes [2] : tensor<1x2x4x4xf32> -> tensor<1x2x3x4x4xf32>
  %k1 = mtc.reshape %k0 : tensor<1x2x3x4x4xf32> -> tensor<1x6x4x4xf32>
  %k2 = mtc.transpose %k1 [0, 1, 3, 2] : tensor<1x6x4x4xf32> -> tensor<1x6x4x4xf32>
  %k3 = mtc.reshape %k2 : tensor<1x6x4x4xf32> -> tensor<6x4x4xf32>
  %k4 = mtc.transpose %k3 [0, 1, 2] : tensor<6x4x4xf32> -> tensor<6x4x4xf32>
  %k5 = mtc.reshape %k4 : tensor<6x4x4xf32> -> tensor<1x6x4x4xf32>
  %v0 = mtc.broadcast %v axes [2] : tensor<1x2x4x4xf32> -> tensor<1x2x3x4x4xf32>
  %v1 = mtc.reshape %v0 : tensor<1x2x3x4x4xf32> -> tensor<1x6x4x4xf32>
  %o, %l = mtc.attention %q, %k5, %v1 scale 0.5
    : (tensor<1x6x4x4xf32>, tensor<1x6x4x4xf32>, tensor<1x6x4x4xf32>) -> (tensor<1x6x4x4xf32>, tensor<1x6x4xf32>)
  return %o : tensor<1x6x4x4xf32>
}

// Positions are a constant that was folded with the batch axis.
// CHECK-LABEL: func.func @positions
// CHECK: mtc.attention %arg0, %arg1, %arg1 causal 0 scale
func.func @positions(%q: tensor<2x2x4x16xf32>, %k: tensor<2x2x4x16xf32>) -> tensor<2x2x4x16xf32> {
  %p = mtc.constant dense<[[[0, 1, 2, 3]], [[0, 1, 2, 3]]]> : tensor<2x1x4xi64>
  %j = mtc.broadcast %p axes [2] : tensor<2x1x4xi64> -> tensor<2x1x4x4xi64>
  %i = mtc.broadcast %p axes [3] : tensor<2x1x4xi64> -> tensor<2x1x4x4xi64>
  %m = mtc.compare le %j, %i : tensor<2x1x4x4xi64> -> tensor<2x1x4x4xi1>
  %o, %l = mtc.attention %q, %k, %k mask %m scale 0.25
    : (tensor<2x2x4x16xf32>, tensor<2x2x4x16xf32>, tensor<2x2x4x16xf32>, tensor<2x1x4x4xi1>) -> (tensor<2x2x4x16xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x2x4x16xf32>
}

// These positions are not those of a causal mask.
// CHECK-LABEL: func.func @others
// CHECK: mtc.attention %arg0, %arg1, %arg1 mask
func.func @others(%q: tensor<2x2x4x16xf32>, %k: tensor<2x2x4x16xf32>) -> tensor<2x2x4x16xf32> {
  %p = mtc.constant dense<[[[0, 1, 3, 2]], [[0, 1, 3, 2]]]> : tensor<2x1x4xi64>
  %j = mtc.broadcast %p axes [2] : tensor<2x1x4xi64> -> tensor<2x1x4x4xi64>
  %i = mtc.broadcast %p axes [3] : tensor<2x1x4xi64> -> tensor<2x1x4x4xi64>
  %m = mtc.compare le %j, %i : tensor<2x1x4x4xi64> -> tensor<2x1x4x4xi1>
  %o, %l = mtc.attention %q, %k, %k mask %m scale 0.25
    : (tensor<2x2x4x16xf32>, tensor<2x2x4x16xf32>, tensor<2x2x4x16xf32>, tensor<2x1x4x4xi1>) -> (tensor<2x2x4x16xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x2x4x16xf32>
}
