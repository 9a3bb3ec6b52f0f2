// Elementwise kernels with all kinds of indexing are compared with the interpreter.
// RUN: mtc-run --check %s | FileCheck %s

// CHECK: @scalar: items 1 {{.*}} ok
mtc.kernel_function @scalar [1] -> [tensor<f32>] {
^body(%a: tensor<f32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> ()> : tensor<f32> -> f32
  %y = arith.negf %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> ()>] : f32
}

// CHECK: @e15: {{.*}} ok
mtc.kernel_function @e15 [15] -> [tensor<15xf64>] {
^body(%a: tensor<15xf64>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<15xf64> -> f64
  %y = math.exp %x : f64
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f64
}

// CHECK: @e16: {{.*}} ok
mtc.kernel_function @e16 [16] -> [tensor<16xf16>] {
^body(%a: tensor<16xf16>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf16> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @e17: {{.*}} ok
mtc.kernel_function @e17 [17] -> [tensor<17xbf16>] {
^body(%a: tensor<17xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<17xbf16> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @e63: {{.*}} ok
mtc.kernel_function @e63 [63] -> [tensor<63xi1>, tensor<63xi8>] attributes {run.ranges = [[-9, 9], [-9, 9]]} {
^body(%a: tensor<63xi16>, %b: tensor<63xi64>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<63xi16> -> i16
  %y = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<63xi64> -> i64
  %z = arith.trunci %y : i64 to i16
  %l = arith.cmpi slt, %x, %z : i16
  %t = arith.trunci %y : i64 to i8
  mtc.kernel.yield %l, %t at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : i1, i8
}

// There are many blocks, of which the last one is incomplete.
// CHECK: @blocks: items 5 {{.*}} ok
mtc.kernel_function @blocks [16500] -> [tensor<16500xf32>] {
^body(%a: tensor<16500xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16500xf32> -> f32
  %y = arith.addf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @broadcast: {{.*}} ok
mtc.kernel_function @broadcast [3, 65, 20] -> [tensor<3x65x20xf32>] {
^body(%a: tensor<3x65x20xf32>, %b: tensor<65x1xf32>, %c: tensor<20xi32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x65x20xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1, d2) -> (d1, 0)> : tensor<65x1xf32> -> f32
  %i = mtc.kernel.load %c at affine_map<(d0, d1, d2) -> (d2)> : tensor<20xi32> -> i32
  %z = arith.sitofp %i : i32 to f32
  %u = arith.mulf %x, %y : f32
  %v = arith.addf %u, %z : f32
  mtc.kernel.yield %v at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
}

// CHECK: @transpose: {{.*}} ok
mtc.kernel_function @transpose [5, 33, 18] -> [tensor<5x33x18xf32>] {
^body(%a: tensor<5x18x33xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<5x18x33xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
}

// A reshape of a transpose: division by the extents that a dim is split into.
// CHECK: @heads: {{.*}} ok
mtc.kernel_function @heads [20, 48] -> [tensor<20x48xf32>] {
^body(%a: tensor<3x20x16xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)> : tensor<3x20x16xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// The division does not split a dim.
// CHECK: @uneven: {{.*}} ok
mtc.kernel_function @uneven [50] -> [tensor<50xf32>] {
^body(%a: tensor<8x7xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> ((d0 + 3) floordiv 7, (d0 + 3) mod 7)> : tensor<8x7xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @reversed: {{.*}} ok
mtc.kernel_function @reversed [77] -> [tensor<77xf32>] {
^body(%a: tensor<77xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (76 - d0)> : tensor<77xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @strided: {{.*}} ok
mtc.kernel_function @strided [3, 33] -> [tensor<3x33xi8>] attributes {run.ranges = [[-99, 99]]} {
^body(%a: tensor<9x99xi8>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 3 + 1, d1 * 3 + 2)> : tensor<9x99xi8> -> i8
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : i8
}

// Negative indices count from the end.
// CHECK: @gather: {{.*}} ok
mtc.kernel_function @gather [7, 65] -> [tensor<7x65xf32>] attributes {run.ranges = [[-9, 9], [-1.0, 1.0]]} {
^body(%i: tensor<7xi64>, %w: tensor<9x65xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<7xi64> -> i64
  %j = mtc.kernel.check %k below 9
  %x = mtc.kernel.load %w at affine_map<(d0, d1)[s0] -> (s0, d1)> [%j] : tensor<9x65xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Every lane reads at an index of its own.
// CHECK: @pick: {{.*}} ok
mtc.kernel_function @pick [83] -> [tensor<83xf32>] attributes {run.ranges = [[-10, 10], [-1.0, 1.0]]} {
^body(%i: tensor<83xi32>, %w: tensor<83x10xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0) -> (d0)> : tensor<83xi32> -> i32
  %l = arith.extsi %k : i32 to i64
  %j = mtc.kernel.check %l below 10
  %x = mtc.kernel.load %w at affine_map<(d0)[s0] -> (d0, s0)> [%j] : tensor<83x10xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @pad: {{.*}} ok
mtc.kernel_function @pad [6, 70] -> [tensor<6x70xf32>] {
^body(%a: tensor<6x65xf32>):
  %zero = arith.constant 7.0 : f32
  %lo = arith.constant 3 : i64
  %hi = arith.constant 68 : i64
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d1)>
  %l = arith.cmpi sge, %i, %lo : i64
  %h = arith.cmpi slt, %i, %hi : i64
  %g = arith.andi %l, %h : i1
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1 - 3)> if %g else %zero : f32 : tensor<6x65xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// The guard is constant along a row, and excludes rows outside of the tensor.
// CHECK: @padrows: {{.*}} ok
mtc.kernel_function @padrows [9, 70] -> [tensor<9x70xf32>] {
^body(%a: tensor<5x70xf32>, %b: tensor<5xf32>):
  %zero = arith.constant 0.0 : f32
  %lo = arith.constant 2 : i64
  %hi = arith.constant 7 : i64
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d0)>
  %l = arith.cmpi sge, %i, %lo : i64
  %h = arith.cmpi slt, %i, %hi : i64
  %g = arith.andi %l, %h : i1
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 - 2, d1)> if %g else %zero : f32 : tensor<5x70xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0 - 2)> if %g else %zero : f32 : tensor<5xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK: @unsigned: {{.*}} ok
mtc.kernel_function @unsigned [40] -> [tensor<40xf32>] attributes {run.ranges = [[0, 256]]} {
^body(%a: tensor<40xui8>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<40xui8> -> i8
  %y = arith.uitofp %x : i8 to f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @float8: {{.*}} ok
mtc.kernel_function @float8 [300] -> [tensor<300xf8E4M3FN>, tensor<300xf8E5M2>, tensor<300xf32>] attributes {run.ranges = [[-2.0, 2.0], [-0.1, 0.1], [-0.01, 0.01]]} {
^body(%a: tensor<300xf8E4M3FN>, %b: tensor<300xf8E5M2>, %c: tensor<300xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<300xf8E4M3FN> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<300xf8E5M2> -> f32
  %z = mtc.kernel.load %c at affine_map<(d0) -> (d0)> : tensor<300xf32> -> f32
  %s = arith.addf %x, %z : f32
  %t = arith.addf %y, %z : f32
  %n = arith.truncf %z : f32 to f8E4M3FN
  %w = arith.extf %n : f8E4M3FN to f32
  mtc.kernel.yield %s, %t, %w at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : f32, f32, f32
}

// Two transposed operands and one that is not, with remainders of rows and lanes.
// CHECK: @tiles: {{.*}} ok
mtc.kernel_function @tiles [3, 70, 35] -> [tensor<3x70x35xbf16>] {
^body(%a: tensor<35x3x70xf32>, %b: tensor<35x70xbf16>, %c: tensor<70x35xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d2, d0, d1)> : tensor<35x3x70xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<35x70xbf16> -> f32
  %z = mtc.kernel.load %c at affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<70x35xf32> -> f32
  %i = mtc.kernel.index affine_map<(d0, d1, d2) -> (d1 * 2 + d2)>
  %u = arith.addf %x, %y : f32
  %v = arith.addf %u, %z : f32
  %f = arith.sitofp %i : i64 to f32
  %w = arith.addf %v, %f : f32
  mtc.kernel.yield %w at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
}

// CHECK: @swapped: {{.*}} ok
mtc.kernel_function @swapped [64, 130] -> [tensor<64x130xi8>] attributes {run.ranges = [[-99, 99]]} {
^body(%a: tensor<130x64xi8>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d1, d0)> : tensor<130x64xi8> -> i8
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : i8
}
