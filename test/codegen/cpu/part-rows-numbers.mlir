// Iteration spaces whose last row is incomplete, and lookups in small tables, are compared with the interpreter.
// RUN: mtc-run --check %s | FileCheck %s

// CHECK: @elementwise: {{.*}} ok
mtc.kernel_function @elementwise [9, 256] iterations 2101 -> [tensor<2101xf32>] attributes {run.in_place = [0]} {
^body(%a: tensor<2101xf32>, %s: tensor<9xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 256 + d1)> : tensor<2101xf32> -> f32
  %r = mtc.kernel.load %s at affine_map<(d0, d1) -> (d0)> : tensor<9xf32> -> f32
  %y = arith.mulf %x, %r : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0 * 256 + d1)>] : f32
}

// The maximum of each row, and the elements divided by it; all but 55 of the last row's 256 elements do not exist.
// CHECK: @rows: {{.*}} ok
mtc.kernel_function @rows [33, 256] iterations 8247 reduce [1] -> [tensor<8247xf32>, tensor<33xf32>] attributes {run.in_place = [0, 1]} {
^body(%a: tensor<8247xf32>, %s: tensor<33xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 256 + d1)> : tensor<8247xf32> -> f32
  %o = mtc.kernel.load %s at affine_map<(d0, d1) -> (d0)> : tensor<33xf32> -> f32
  %n = math.absf %x : f32
  %m = mtc.kernel.reduce max %n : f32
  %t = mtc.kernel.reduce add %x : f32
  %u = arith.addf %t, %o : f32
  %v = arith.addf %m, %u : f32
  %y = arith.divf %x, %m : f32
  mtc.kernel.yield %y, %v at [affine_map<(d0, d1) -> (d0 * 256 + d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// The last row is a multiple of a vector of bytes in one kernel, and one element in the other.
// CHECK: @bytes: {{.*}} ok
mtc.kernel_function @bytes [3, 64] iterations 160 reduce [1] -> [tensor<160xi8>] attributes {run.ranges = [[-50, 50]]} {
^body(%a: tensor<160xi8>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 64 + d1)> : tensor<160xi8> -> i8
  %m = mtc.kernel.reduce max %x : i8
  %y = arith.subi %m, %x : i8
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0 * 64 + d1)>] : i8
}

// CHECK: @one: {{.*}} ok
mtc.kernel_function @one [2, 4096] iterations 4097 reduce [1] -> [tensor<2xf32>] {
^body(%a: tensor<4097xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 4096 + d1)> : tensor<4097xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
}

// Tables have 256, 128, 32 and 16 elements, and one has too many. The index has an offset, which shifts the table.
// CHECK: @lookups: {{.*}} ok
mtc.kernel_function @lookups [1000] -> [tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>]
    attributes {run.ranges = [[-128, 127], [-1, 1]]} {
^body(%a: tensor<1000xi8>, %t: tensor<600xf32>):
  %c128 = arith.constant 128 : i32
  %c127 = arith.constant 127 : i32
  %c3 = arith.constant 3 : i32
  %c15 = arith.constant 15 : i32
  %c300 = arith.constant 300 : i32
  %n = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<1000xi8> -> i8
  %i = arith.extui %n : i8 to i64
  %x = mtc.kernel.load %t at affine_map<(d0)[s0] -> (s0 + 256)> [%i] : tensor<600xf32> -> f32
  %w = arith.extui %n : i8 to i32
  %h = arith.andi %w, %c127 : i32
  %u = arith.addi %h, %c128 : i32
  %j = arith.extui %u : i32 to i64
  %y = mtc.kernel.load %t at affine_map<(d0)[s0] -> (s0)> [%j] : tensor<600xf32> -> f32
  %q = arith.shrui %w, %c3 : i32
  %k = arith.extui %q : i32 to i64
  %z = mtc.kernel.load %t at affine_map<(d0)[s0] -> (s0 + 7)> [%k] : tensor<600xf32> -> f32
  %r = arith.andi %w, %c15 : i32
  %l = arith.extui %r : i32 to i64
  %v = mtc.kernel.load %t at affine_map<(d0)[s0] -> (s0)> [%l] : tensor<600xf32> -> f32
  %p = arith.addi %w, %c300 : i32
  %o = arith.extui %p : i32 to i64
  %g = mtc.kernel.load %t at affine_map<(d0)[s0] -> (s0)> [%o] : tensor<600xf32> -> f32
  mtc.kernel.yield %x, %y, %z, %v, %g at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : f32, f32, f32, f32, f32
}
