// RUN: mtc-opt %s -split-input-file -mtc-fix-sum-order | FileCheck %s

// Kernels that reduce several dimensions keep them apart in programs whose layers are divided.
// CHECK-LABEL: mtc.program "divided"
// CHECK: mtc.kernel [8, 16, 4] reduce [0, 1](%{{.*}}) attributes {mtc.fixed_order}
// CHECK: mtc.kernel [8, 4] reduce [0](%{{.*}}) :
mtc.program "divided" stage training ranks <count = 2, tensor = 2> {}
func.func @f(%x: tensor<8x16x4xf32>, %y: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = mtc.kernel [8, 16, 4] reduce [0, 1](%x) : (tensor<8x16x4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<8x16x4xf32>):
    %v = mtc.kernel.load %in at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x16x4xf32> -> f32
    %s = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d2)>] : f32
  }
  %b = mtc.kernel [8, 4] reduce [0](%y) : (tensor<8x4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<8x4xf32>):
    %v = mtc.kernel.load %in at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x4xf32> -> f32
    %s = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: mtc.program "data_parallel"
// CHECK: mtc.kernel [8, 16, 4] reduce [0, 1](%{{.*}}) :
mtc.program "data_parallel" stage training ranks <count = 2> {}
func.func @f(%x: tensor<8x16x4xf32>) -> tensor<4xf32> {
  %a = mtc.kernel [8, 16, 4] reduce [0, 1](%x) : (tensor<8x16x4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<8x16x4xf32>):
    %v = mtc.kernel.load %in at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x16x4xf32> -> f32
    %s = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d2)>] : f32
  }
  return %a : tensor<4xf32>
}
