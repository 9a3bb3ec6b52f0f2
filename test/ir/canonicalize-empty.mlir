// Tensors without elements.
// RUN: mtc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @empty_result
// CHECK-NEXT: %[[C:.*]] = mtc.constant dense<> : tensor<0x4xf32>
// CHECK-NEXT: return %[[C]]
func.func @empty_result(%x: tensor<0x4xf32>, %i: tensor<0xi64>, %y: tensor<3x4xf32>) -> tensor<0x4xf32> {
  %a = mtc.exp %x : tensor<0x4xf32>
  %b = mtc.gather %y, %i axis 0 batch 0 : tensor<3x4xf32>, tensor<0xi64> -> tensor<0x4xf32>
  %c = mtc.add %a, %b : tensor<0x4xf32>
  return %c : tensor<0x4xf32>
}

// CHECK-LABEL: func.func @empty_cache
// CHECK-NEXT: return %arg1
func.func @empty_cache(%x: tensor<2x0xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = mtc.exp %x : tensor<2x0xf32>
  %b = mtc.concatenate %a, %y axis 1 : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @scatter_of_nothing
// CHECK-NEXT: mtc.constant dense<0.000000e+00> : tensor<10x8xf32>
func.func @scatter_of_nothing(%u: tensor<0x8xf32>, %i: tensor<0xi64>) -> tensor<10x8xf32> {
  %y = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<0x8xf32>, tensor<0xi64> -> tensor<10x8xf32>
  return %y : tensor<10x8xf32>
}
