// RUN: mtc-opt %s -split-input-file -mtc-fix-sum-order | FileCheck %s

// Sums and scattered sums have a fixed order in programs whose layers are divided.
// CHECK-LABEL: mtc.program "divided"
// CHECK: mtc.kernel [8, 16, 4] reduce [0, 1](%{{.*}}) attributes {mtc.fixed_order}
// CHECK: mtc.kernel [8, 4] reduce [0](%{{.*}}) attributes {mtc.fixed_order}
// CHECK: mtc.kernel [8, 4](%{{.*}}) :
mtc.program "divided" stage training ranks <count = 2, tensor = 2> {}
func.func @f(%x: tensor<8x16x4xf32>, %y: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) {
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
  %c = mtc.kernel [8, 4](%y) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%in: tensor<8x4xf32>):
    %v = mtc.kernel.load %in at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x4xf32> -> f32
    %s = math.exp %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>
}

// -----

// The runtime's panels compute contractions. Measured algorithms of other calls are dropped.
// CHECK-LABEL: mtc.program "calls"
// CHECK: mtc.contract {{.*}}{mtc.algorithm = #mtc<call_algorithm own_panels>, mtc.fixed_order}
// CHECK: mtc.convolve {{.*}}dilations [1] :
module attributes {mtc.target = #mtc_cpu.target<precision = f32>} {
mtc.program "calls" stage training ranks <count = 2, tensor = 2> {}
func.func @f(%a: tensor<64x64xf32>, %x: tensor<2x8x4xf32>, %w: tensor<4x4x3xf32>) -> (tensor<64x64xf32>, tensor<2x6x4xf32>) {
  %p = mtc.contract %a, %a batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] {mtc.algorithm = #mtc<call_algorithm own_panels>} : (tensor<2x8x4xf32>, tensor<4x4x3xf32>) -> tensor<2x6x4xf32>
  return %p, %y : tensor<64x64xf32>, tensor<2x6x4xf32>
}
}

// -----

// The algorithms are those of the target cpu.
// CHECK-LABEL: mtc.program "device"
// CHECK: mtc.contract {{.*}}over [1] x [0] :
module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = f32>} {
mtc.program "device" stage training ranks <count = 2, tensor = 2> {}
func.func @f(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = mtc.contract %a, %a batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}
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
