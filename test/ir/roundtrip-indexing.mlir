// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<4x10x8xf32>, %i: tensor<4x3xi64>, %j: tensor<4xi32>)
    -> (tensor<4x3x8xf32>, tensor<4x10xf32>) {
  // CHECK: mtc.gather %{{.*}}, %{{.*}} axis 1 batch 1 : tensor<4x10x8xf32>, tensor<4x3xi64> -> tensor<4x3x8xf32>
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<4x10x8xf32>, tensor<4x3xi64> -> tensor<4x3x8xf32>
  // All axes of the indices are batch axes, so that the result has one element for each row.
  // CHECK: mtc.gather %{{.*}}, %{{.*}} axis 2 batch 1 : tensor<4x10x8xf32>, tensor<4xi32> -> tensor<4x10xf32>
  %z = mtc.gather %x, %j axis 2 batch 1 : tensor<4x10x8xf32>, tensor<4xi32> -> tensor<4x10xf32>
  return %y, %z : tensor<4x3x8xf32>, tensor<4x10xf32>
}

// CHECK-LABEL: func.func @scatter_add
func.func @scatter_add(%u: tensor<3x8xf32>, %i: tensor<3xi64>) -> tensor<10x8xf32> {
  // CHECK: mtc.scatter_add %{{.*}}, %{{.*}} axis 0 batch 0 : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
  %y = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
  // CHECK: mtc.scatter_add %{{.*}}, %{{.*}} axis 0 batch 0 onto %{{.*}} : tensor<10x8xf32> : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
  %z = mtc.scatter_add %u, %i axis 0 batch 0 onto %y : tensor<10x8xf32> : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
  return %z : tensor<10x8xf32>
}
