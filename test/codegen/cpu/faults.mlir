// An out-of-bounds index raises the fault; the kernel continues with a valid index.
// RUN: mtc-run --check %s | FileCheck %s

// CHECK: @uniform: {{.*}} fault index 9 extent 9 (index 9 is outside an axis of 9)
mtc.kernel_function @uniform [4, 65] -> [tensor<4x65xf32>] attributes {run.ranges = [[9, 10], [-1.0, 1.0]]} {
^body(%i: tensor<4xi64>, %w: tensor<9x65xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<4xi64> -> i64
  %j = mtc.kernel.check %k below 9
  %x = mtc.kernel.load %w at affine_map<(d0, d1)[s0] -> (s0, d1)> [%j] : tensor<9x65xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK: @lanes: {{.*}} fault index -11 extent 10 (index -11 is outside an axis of 10)
mtc.kernel_function @lanes [83] -> [tensor<83xf32>] attributes {run.ranges = [[-11, -10], [-1.0, 1.0]]} {
^body(%i: tensor<83xi64>, %w: tensor<10xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0) -> (d0)> : tensor<83xi64> -> i64
  %j = mtc.kernel.check %k below 10
  %x = mtc.kernel.load %w at affine_map<(d0)[s0] -> (s0)> [%j] : tensor<10xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}

// Lanes past the end of a row have no index.
// CHECK: @masked: {{.*}} ok
mtc.kernel_function @masked [5] -> [tensor<5xf32>] attributes {run.ranges = [[3, 4], [-1.0, 1.0]]} {
^body(%i: tensor<5xi64>, %w: tensor<2xf32>):
  %two = arith.constant 2 : i64
  %k = mtc.kernel.load %i at affine_map<(d0) -> (d0)> : tensor<5xi64> -> i64
  %l = arith.subi %k, %two : i64
  %j = mtc.kernel.check %l below 2
  %x = mtc.kernel.load %w at affine_map<(d0)[s0] -> (s0)> [%j] : tensor<2xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}
