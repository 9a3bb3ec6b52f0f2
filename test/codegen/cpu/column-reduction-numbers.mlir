// Column reductions are compared with the interpreter.
// RUN: mtc-run --check --tolerance 5e-6 %s | FileCheck %s

// CHECK: @columns: {{.*}} ok
mtc.kernel_function @columns [1000, 65] reduce [0] -> [tensor<65xf32>] {
^body(%a: tensor<1000x65xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1000x65xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

// CHECK: @middle: {{.*}} ok
mtc.kernel_function @middle [3, 40, 17] reduce [1] -> [tensor<3x17xbf16>] {
^body(%a: tensor<3x40x17xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x40x17xbf16> -> f32
  %s = mtc.kernel.reduce max %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d0, d2)>] : f32
}

// Per-channel statistics of a normalization reduce an outer and an inner dim.
// CHECK: @channels: {{.*}} ok
mtc.kernel_function @channels [4, 5, 49] reduce [0, 2] -> [tensor<5xf32>, tensor<5xf32>] {
^body(%a: tensor<4x5x49xf32>):
  %n = arith.constant 196.0 : f32
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x5x49xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %m = arith.divf %s, %n : f32
  %d = arith.subf %x, %m : f32
  %q = arith.mulf %d, %d : f32
  %v = mtc.kernel.reduce add %q : f32
  mtc.kernel.yield %m, %v at [affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d1)>] : f32, f32
}

// Elementwise operations after a column reduction.
// CHECK: @centered: {{.*}} ok
mtc.kernel_function @centered [40, 63] reduce [0] -> [tensor<40x63xf32>] {
^body(%a: tensor<40x63xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<40x63xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  mtc.kernel.yield %d at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// A reduction over windows of 3 x 3 with a border, which a guard excludes.
// CHECK: @window: {{.*}} ok
mtc.kernel_function @window [2, 14, 15, 3, 3] reduce [3, 4] -> [tensor<2x14x15xf32>] {
^body(%a: tensor<2x14x15xf32>):
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c14 = arith.constant 14 : i64
  %c15 = arith.constant 15 : i64
  %h = mtc.kernel.index affine_map<(d0, d1, d2, d3, d4) -> (d1 + d3 - 1)>
  %w = mtc.kernel.index affine_map<(d0, d1, d2, d3, d4) -> (d2 + d4 - 1)>
  %h0 = arith.cmpi sge, %h, %c0 : i64
  %h1 = arith.cmpi slt, %h, %c14 : i64
  %w0 = arith.cmpi sge, %w, %c0 : i64
  %w1 = arith.cmpi slt, %w, %c15 : i64
  %g0 = arith.andi %h0, %h1 : i1
  %g1 = arith.andi %w0, %w1 : i1
  %g = arith.andi %g0, %g1 : i1
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3 - 1, d2 + d4 - 1)> if %g else %zero : f32 : tensor<2x14x15xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>] : f32
}
