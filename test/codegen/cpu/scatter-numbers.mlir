// Kernels that add at computed indices are compared with the interpreter.
// RUN: mtc-run --check %s | FileCheck %s

// The gradient of an embedding: vectors along the row.
// CHECK: @rows: {{.*}} ok
mtc.kernel_function @rows [40, 65] reduce [0] -> [tensor<9x65xf32>] attributes {run.ranges = [[-9, 9], [-1.0, 1.0]]} {
^body(%i: tensor<40xi64>, %g: tensor<40x65xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<40xi64> -> i64
  %j = mtc.kernel.check %k below 9
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<40x65xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] : f32
}

// Every row adds to its own elements, so that vectors cover several rows.
// CHECK: @within: {{.*}} ok
mtc.kernel_function @within [37, 5] reduce [1] -> [tensor<37x12xf32>] attributes {run.ranges = [[-12, 12], [-1.0, 1.0]]} {
^body(%i: tensor<37x5xi64>, %g: tensor<37x5xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0, d1)> : tensor<37x5xi64> -> i64
  %j = mtc.kernel.check %k below 12
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<37x5xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (d0, s0)>] [%j] add [0] : f32
}

// No dim is parallel.
// CHECK: @histogram: items 1 {{.*}} ok
mtc.kernel_function @histogram [500] reduce [0] -> [tensor<20xi64>] attributes {run.ranges = [[0, 20]]} {
^body(%i: tensor<500xi64>):
  %one = arith.constant 1 : i64
  %k = mtc.kernel.load %i at affine_map<(d0) -> (d0)> : tensor<500xi64> -> i64
  %j = mtc.kernel.check %k below 20
  mtc.kernel.yield %one at [affine_map<(d0)[s0] -> (s0)>] [%j] add [0] : i64
}

// Overlapping windows: the index depends on parallel and reduced dims.
// CHECK: @overlap: {{.*}} ok
mtc.kernel_function @overlap [6, 20, 3] reduce [2] -> [tensor<6x22xf32>] {
^body(%g: tensor<6x20x3xf32>):
  %x = mtc.kernel.load %g at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<6x20x3xf32> -> f32
  %i = mtc.kernel.index affine_map<(d0, d1, d2) -> (d1 + d2)>
  mtc.kernel.yield %x at [affine_map<(d0, d1, d2)[s0] -> (d0, s0)>] [%i] add [0] : f32
}

// Work items own indices of the outer dim and iterate over all other dims in order.
// CHECK: @blocks: {{.*}} ok
mtc.kernel_function @blocks [3, 30, 70] reduce [1] -> [tensor<3x8x70xf32>] attributes {run.ranges = [[-8, 8], [-1.0, 1.0]]} {
^body(%i: tensor<3x30xi32>, %g: tensor<3x30x70xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<3x30xi32> -> i32
  %l = arith.extsi %k : i32 to i64
  %j = mtc.kernel.check %l below 8
  %x = mtc.kernel.load %g at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x30x70xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1, d2)[s0] -> (d0, s0, d2)>] [%j] add [0] : f32
}

// The sums start as the values of an operand and are computed in its memory.
// CHECK: @onto: {{.*}} ok
mtc.kernel_function @onto [40, 65] reduce [0] -> [tensor<9x65xf32>] attributes {run.ranges = [[-9, 9], [-1.0, 1.0], [-1.0, 1.0]], run.in_place = [2]} {
^body(%i: tensor<40xi64>, %g: tensor<40x65xf32>, %b: tensor<9x65xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<40xi64> -> i64
  %j = mtc.kernel.check %k below 9
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<40x65xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] onto %b : tensor<9x65xf32> : f32
}
