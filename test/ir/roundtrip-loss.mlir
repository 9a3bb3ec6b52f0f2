// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @softmax_cross_entropy
func.func @softmax_cross_entropy(%z: tensor<4x10xf32>, %t: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK: mtc.softmax_cross_entropy %{{.*}}, %{{.*}} ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
  return %l : tensor<4xf32>
}
