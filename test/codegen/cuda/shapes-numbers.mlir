// Every kind of launch is compared with the interpreter, at extents near the sizes of warps, vectors, blocks and register files.
// RUN: mtc-run --check --target cuda --emulate --tolerance 2e-5 %s | FileCheck %s

// CHECK: @one: {{.*}} ok
mtc.kernel_function @one [1, 2] reduce [1] -> [tensor<f32>] {
^body(%a: tensor<1x2xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1x2xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> ()>] : f32
}

// CHECK: @e31: {{.*}} ok
mtc.kernel_function @e31 [31] -> [tensor<31xf32>] {
^body(%a: tensor<31xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<31xf32> -> f32
  %y = math.tanh %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @e33: {{.*}} ok
mtc.kernel_function @e33 [33] -> [tensor<33xbf16>] {
^body(%a: tensor<33xf16>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<33xf16> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: @e1025: {{.*}} ok
mtc.kernel_function @e1025 [1025] -> [tensor<1025xi8>] attributes {run.ranges = [[-100, 100]]} {
^body(%a: tensor<1025xi8>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<1025xi8> -> i8
  %y = arith.addi %x, %x : i8
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : i8
}

// Concatenated parts of eight elements: whole vectors.
// CHECK: @parts: {{.*}} ok
mtc.kernel_function @parts [5, 24] -> [tensor<5x24xf32>] {
^body(%a: tensor<5x8xf32>, %b: tensor<5x16xf32>):
  %c8 = arith.constant 8 : i64
  %zero = arith.constant 0.0 : f32
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d1)>
  %first = arith.cmpi slt, %i, %c8 : i64
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> if %first else %zero : f32 : tensor<5x8xf32> -> f32
  %second = arith.cmpi sge, %i, %c8 : i64
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1 - 8)> if %second else %zero : f32 : tensor<5x16xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Parts that split vectors.
// CHECK: @split_vectors: {{.*}} ok
mtc.kernel_function @split_vectors [5, 24] -> [tensor<5x24xf32>] {
^body(%a: tensor<5x24xf32>):
  %c7 = arith.constant 7 : i64
  %one = arith.constant 1.0 : f32
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d1)>
  %first = arith.cmpi sgt, %i, %c7 : i64
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> if %first else %one : f32 : tensor<5x24xf32> -> f32
  %c9 = arith.constant 9 : i64
  %second = arith.cmpi slt, %i, %c9 : i64
  %y = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> if %second else %one : f32 : tensor<5x24xf32> -> f32
  %z = arith.mulf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK: @rows31: {{.*}} ok
mtc.kernel_function @rows31 [7, 31] reduce [1] -> [tensor<7x31xf32>, tensor<7xf32>] {
^body(%a: tensor<7x31xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x31xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %e = math.exp %d : f32
  %s = mtc.kernel.reduce add %e : f32
  %y = arith.divf %e, %s : f32
  mtc.kernel.yield %y, %m at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// CHECK: @rows33: {{.*}} ok
mtc.kernel_function @rows33 [33, 33] reduce [1] -> [tensor<33x33xbf16>] {
^body(%a: tensor<33x33xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<33x33xbf16> -> f32
  %m = mtc.kernel.reduce min %x : f32
  %d = arith.subf %x, %m : f32
  mtc.kernel.yield %d at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK: @rows1023: {{.*}} ok
mtc.kernel_function @rows1023 [3, 1023] reduce [1] -> [tensor<3x1023xf64>, tensor<3xi64>] {
^body(%a: tensor<3x1023xf64>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x1023xf64> -> f64
  %s = mtc.kernel.reduce add %x : f64
  %d = arith.subf %x, %s : f64
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d1)>
  %n = mtc.kernel.reduce max %i : i64
  mtc.kernel.yield %d, %n at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f64, i64
}

// The number of warps is not a power of two, and some threads of the team have no element of the row.
// CHECK: @rows1025: {{.*}} ok
mtc.kernel_function @rows1025 [2, 1028] reduce [1] -> [tensor<2x1028xf16>, tensor<2xi1>] {
^body(%a: tensor<2x1028xf16>):
  %zero = arith.constant 0.0 : f32
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x1028xf16> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %p = arith.cmpf ogt, %x, %zero : f32
  %all = mtc.kernel.reduce and %p : i1
  mtc.kernel.yield %d, %all at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, i1
}

// Rows exceed the registers and have several blocks each: one launch for each level, and one for the rows.
// CHECK: @long: {{.*}} ok
mtc.kernel_function @long [2, 20001] reduce [1] -> [tensor<2x20001xf32>, tensor<2xf32>] {
^body(%a: tensor<2x20001xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x20001xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %e = math.exp %d : f32
  %s = mtc.kernel.reduce add %e : f32
  %y = arith.divf %e, %s : f32
  mtc.kernel.yield %y, %s at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// Rows exceed the registers and have one block each.
// CHECK: @many: {{.*}} ok
mtc.kernel_function @many [128, 4097] reduce [1] -> [tensor<128x4097xbf16>] {
^body(%a: tensor<128x4097xbf16>, %b: tensor<128x4097xbf16>, %c: tensor<128xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<128x4097xbf16> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<128x4097xbf16> -> f32
  %w = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0)> : tensor<128xf32> -> f32
  %p = arith.mulf %x, %y : f32
  %s = mtc.kernel.reduce max %p : f32
  %q = arith.subf %p, %s : f32
  %r = arith.mulf %q, %w : f32
  mtc.kernel.yield %r at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Columns with several blocks each: odd and even numbers of blocks.
// CHECK: @columns33: {{.*}} ok
mtc.kernel_function @columns33 [1025, 33] reduce [0] -> [tensor<33xf32>, tensor<33xf32>] {
^body(%a: tensor<1025x33xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1025x33xf32> -> f32
  %s = mtc.kernel.reduce max %x : f32
  %t = mtc.kernel.reduce min %x : f32
  mtc.kernel.yield %s, %t at [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>] : f32, f32
}

// CHECK: @columns136: {{.*}} ok
mtc.kernel_function @columns136 [700, 136] reduce [0] -> [tensor<700x136xf32>, tensor<136xf32>] {
^body(%a: tensor<700x136xf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<700x136xf16> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %d = arith.subf %x, %s : f32
  %t = mtc.kernel.reduce max %d : f32
  %e = arith.subf %d, %t : f32
  mtc.kernel.yield %e, %t at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] : f32, f32
}

// CHECK: @few_columns: {{.*}} ok
mtc.kernel_function @few_columns [3, 2050] reduce [0] -> [tensor<2050xf32>] {
^body(%a: tensor<3x2050xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x2050xf32> -> f32
  %s = mtc.kernel.reduce mul %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

// Incomplete squares, 16-bit elements, and several operands.
// CHECK: @across: {{.*}} ok
mtc.kernel_function @across [3, 33, 65] -> [tensor<3x33x65xf16>, tensor<3x33x65xi1>] {
^body(%a: tensor<3x65x33xf16>, %b: tensor<3x65x33xi1>, %c: tensor<33xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<3x65x33xf16> -> f32
  %p = mtc.kernel.load %b at affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<3x65x33xi1> -> i1
  %w = mtc.kernel.load %c at affine_map<(d0, d1, d2) -> (d1)> : tensor<33xf32> -> f32
  %y = arith.mulf %x, %w : f32
  %z = arith.select %p, %y, %x : f32
  mtc.kernel.yield %z, %p at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32, i1
}

// Many rows on few indices, with vectors of a row, negative indices, more indices than a block reads at once, and all rows on one index.
// CHECK: @embedding: {{.*}} ok
mtc.kernel_function @embedding [700, 132] reduce [0] -> [tensor<600x132xf32>] attributes {run.ranges = [[-600, 600], [-1.0, 1.0]]} {
^body(%i: tensor<700xi64>, %g: tensor<700x132xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<700xi64> -> i64
  %j = mtc.kernel.check %k below 600
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<700x132xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] : f32
}

// CHECK: @one_place: {{.*}} ok
mtc.kernel_function @one_place [300, 5] reduce [0] -> [tensor<1x5xf32>, tensor<1x5xi64>] attributes {run.ranges = [[0, 1], [-0.01, 0.01]]} {
^body(%i: tensor<300xi32>, %g: tensor<300x5xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<300xi32> -> i32
  %l = arith.extsi %k : i32 to i64
  %j = mtc.kernel.check %l below 1
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<300x5xf32> -> f32
  %one = arith.constant 1 : i64
  mtc.kernel.yield %x, %one at [affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0, 1] : f32, i64
}

// Few indices: chunks of the iterations are summed separately.
// CHECK: @few_places: grid {{[0-9]+}} block {{[0-9]+}} grid {{[0-9]+}} block {{[0-9]+}} grid {{.*}} ok
mtc.kernel_function @few_places [530, 36] reduce [0] -> [tensor<3x36xf16>] attributes {run.ranges = [[-3, 3], [-1.0, 1.0]]} {
^body(%i: tensor<530xi64>, %g: tensor<530x36xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<530xi64> -> i64
  %j = mtc.kernel.check %k below 3
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<530x36xf32> -> f32
  %q = math.floor %x : f32
  mtc.kernel.yield %q at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] : f32
}

// A sum keeps one dim of the rows, so that teams sum in registers.
// CHECK: @kept: {{.*}} ok
mtc.kernel_function @kept [19, 5, 40] reduce [2] -> [tensor<5x40xf32>, tensor<19x5x40xf32>] {
^body(%a: tensor<19x5x40xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<19x5x40xf32> -> f32
  %s = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %s : f32
  mtc.kernel.yield %d, %d at [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>] add [0] : f32, f32
}

// Column sums that keep different dims.
// CHECK: @kept_by_one: {{.*}} ok
mtc.kernel_function @kept_by_one [19, 5, 40] reduce [2] -> [tensor<5x40xf32>, tensor<40xf32>, tensor<19x5x40xf32>] {
^body(%a: tensor<19x5x40xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<19x5x40xf32> -> f32
  %s = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %s : f32
  mtc.kernel.yield %d, %d, %d at [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>] add [0, 1] : f32, f32, f32
}
