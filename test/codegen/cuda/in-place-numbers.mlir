// Results are computed in place of an operand, for every kind of launch that supports it. No thread reads an element that another one has
// overwritten, not even threads outside of the iteration space or threads that share a row.
// RUN: mtc-run --check --target cuda --emulate --tolerance 2e-5 %s | FileCheck %s
// RUN: env MTC_EMULATED_ORDER=reversed mtc-run --check --target cuda --emulate --tolerance 2e-5 %s | FileCheck %s
// RUN: mtc-run --check --tolerance 2e-5 %s | FileCheck %s

// CHECK: @elements: {{.*}} ok
mtc.kernel_function @elements [21] -> [tensor<21xf32>] attributes {run.in_place = [0]} {
^body(%a: tensor<21xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<21xf32> -> f32
  %y = math.tanh %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// The tensor has one element, which threads outside of the iteration space do not read.
// CHECK: @one: {{.*}} ok
mtc.kernel_function @one [] -> [tensor<f32>] attributes {run.in_place = [0]} {
^body(%a: tensor<f32>):
  %x = mtc.kernel.load %a at affine_map<() -> ()> : tensor<f32> -> f32
  %y = math.tanh %x : f32
  mtc.kernel.yield %y at [affine_map<() -> ()>] : f32
}

// A warp computes several rows, of which the last ones do not exist.
// CHECK: @short_rows: {{.*}} ok
mtc.kernel_function @short_rows [3, 7] reduce [1] -> [tensor<3x7xf32>, tensor<3xf32>] attributes {run.in_place = [0, 1]} {
^body(%a: tensor<3x7xf32>, %b: tensor<3xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x7xf32> -> f32
  %w = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<3xf32> -> f32
  %p = arith.mulf %x, %w : f32
  %s = mtc.kernel.reduce add %p : f32
  %y = arith.subf %x, %s : f32
  mtc.kernel.yield %y, %s at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// The result of a row replaces a number that all threads of the row read.
// CHECK: @row_alone: {{.*}} ok
mtc.kernel_function @row_alone [5, 9] reduce [1] -> [tensor<5x9xf32>, tensor<5xf32>] attributes {run.in_place = [-1, 1]} {
^body(%a: tensor<5x9xf32>, %b: tensor<5xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<5x9xf32> -> f32
  %w = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<5xf32> -> f32
  %p = arith.mulf %x, %w : f32
  %m = mtc.kernel.reduce max %x : f32
  %n = arith.addf %m, %w : f32
  mtc.kernel.yield %p, %n at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// Threads of several warps are past the end of the row.
// CHECK: @uneven_rows: {{.*}} ok
mtc.kernel_function @uneven_rows [2, 1500] reduce [1] -> [tensor<2x1500xf32>, tensor<2xf32>] attributes {run.in_place = [1, 2]} {
^body(%a: tensor<2x1500xf32>, %g: tensor<2x1500xf32>, %b: tensor<2xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x1500xf32> -> f32
  %y = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x1500xf32> -> f32
  %w = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<2xf32> -> f32
  %p = arith.mulf %x, %y : f32
  %s = mtc.kernel.reduce max %p : f32
  %d = arith.subf %y, %s : f32
  %e = arith.mulf %x, %d : f32
  %n = arith.mulf %s, %w : f32
  mtc.kernel.yield %e, %n at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// Several blocks share a row, with a launch for each level.
// CHECK: @long_rows: {{.*}} ok
mtc.kernel_function @long_rows [2, 20001] reduce [1] -> [tensor<2x20001xf32>, tensor<2xf32>] attributes {run.in_place = [0, 1]} {
^body(%a: tensor<2x20001xf32>, %b: tensor<2xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x20001xf32> -> f32
  %w = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<2xf32> -> f32
  %p = arith.mulf %x, %w : f32
  %s = mtc.kernel.reduce max %p : f32
  %y = arith.subf %x, %s : f32
  mtc.kernel.yield %y, %s at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// A block has more threads than columns.
// CHECK: @columns: {{.*}} ok
mtc.kernel_function @columns [40, 19] reduce [0] -> [tensor<40x19xf32>, tensor<19xf32>] attributes {run.in_place = [0, 1]} {
^body(%a: tensor<40x19xf32>, %b: tensor<19xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<40x19xf32> -> f32
  %w = mtc.kernel.load %b at affine_map<(d0, d1) -> (d1)> : tensor<19xf32> -> f32
  %p = arith.mulf %x, %w : f32
  %s = mtc.kernel.reduce max %p : f32
  %y = arith.subf %x, %s : f32
  mtc.kernel.yield %y, %s at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] : f32, f32
}

// One thread computes each column.
// CHECK: @short_columns: {{.*}} ok
mtc.kernel_function @short_columns [3, 37] reduce [0] -> [tensor<3x37xf32>] attributes {run.in_place = [0]} {
^body(%a: tensor<3x37xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x37xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %y = arith.subf %x, %s : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Squares past the end of the space. One operand is read transposed; the result overwrites the other one.
// CHECK: @across: {{.*}} ok
mtc.kernel_function @across [2, 33, 65] -> [tensor<2x33x65xf32>] attributes {run.in_place = [1]} {
^body(%a: tensor<2x65x33xf32>, %b: tensor<2x33x65xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<2x65x33xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<2x33x65xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
}

// Some groups of rows of a column sum are past the last row, in registers and in scratch memory.
// CHECK: @column_sums: {{.*}} ok
mtc.kernel_function @column_sums [21, 7] reduce [1] -> [tensor<21x7xf32>, tensor<7xf32>] attributes {run.in_place = [0, -1]} {
^body(%a: tensor<21x7xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<21x7xf32> -> f32
  %s = mtc.kernel.reduce max %x : f32
  %y = arith.subf %x, %s : f32
  mtc.kernel.yield %y, %y at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] add [1] : f32, f32
}

// CHECK: @column_sums_of_rows: {{.*}} ok
mtc.kernel_function @column_sums_of_rows [21, 80] reduce [1] -> [tensor<21xf32>, tensor<f32>] attributes {run.in_place = [1, -1]} {
^body(%a: tensor<21x80xf32>, %b: tensor<21xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<21x80xf32> -> f32
  %w = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<21xf32> -> f32
  %p = arith.mulf %x, %w : f32
  %s = mtc.kernel.reduce max %p : f32
  mtc.kernel.yield %s, %s at [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> ()>] add [1] : f32, f32
}

// CHECK: @column_sums_in_scratch: {{.*}} ok
mtc.kernel_function @column_sums_in_scratch [11, 3000] -> [tensor<11x3000xf32>, tensor<3000xf32>] attributes {run.in_place = [0, -1]} {
^body(%a: tensor<11x3000xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<11x3000xf32> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %y, %y at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] add [1] : f32, f32
}

// Sums that are initialized by an operand, in its memory.
// CHECK: @onto: {{.*}} ok
mtc.kernel_function @onto [40, 65] reduce [0] -> [tensor<9x65xf32>] attributes {run.ranges = [[-9, 9], [-1.0, 1.0], [-1.0, 1.0]], run.in_place = [2]} {
^body(%i: tensor<40xi64>, %g: tensor<40x65xf32>, %b: tensor<9x65xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<40xi64> -> i64
  %j = mtc.kernel.check %k below 9
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<40x65xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] onto %b : tensor<9x65xf32> : f32
}

// Many iterations on few indices, for which scratch memory has copies if sums start as zero.
// CHECK: @few_places: {{.*}} ok
mtc.kernel_function @few_places [600, 3] reduce [0] -> [tensor<2x3xf32>] attributes {run.ranges = [[-2, 2], [-1.0, 1.0], [-1.0, 1.0]], run.in_place = [2]} {
^body(%i: tensor<600xi64>, %g: tensor<600x3xf32>, %b: tensor<2x3xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<600xi64> -> i64
  %j = mtc.kernel.check %k below 2
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<600x3xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] onto %b : tensor<2x3xf32> : f32
}
