// Row reductions in one and several levels are compared with the interpreter.
// RUN: mtc-run --check %s | FileCheck %s

// CHECK: @softmax: {{.*}} ok
mtc.kernel_function @softmax [5, 1000] reduce [1] -> [tensor<5x1000xf32>, tensor<5xf32>] {
^body(%a: tensor<5x1000xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<5x1000xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %e = math.exp %d : f32
  %s = mtc.kernel.reduce add %e : f32
  %y = arith.divf %e, %s : f32
  mtc.kernel.yield %y, %s at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// The mean, then the mean square of the deviations, then elementwise operations: three passes over the row.
// CHECK: @normalize: {{.*}} ok
mtc.kernel_function @normalize [33, 65] reduce [1] -> [tensor<33x65xf32>] {
^body(%a: tensor<33x65xf32>, %g: tensor<65xf32>):
  %n = arith.constant 65.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<33x65xf32> -> f32
  %w = mtc.kernel.load %g at affine_map<(d0, d1) -> (d1)> : tensor<65xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %m = arith.divf %s, %n : f32
  %d = arith.subf %x, %m : f32
  %q = arith.mulf %d, %d : f32
  %t = mtc.kernel.reduce add %q : f32
  %v = arith.divf %t, %n : f32
  %u = arith.addf %v, %eps : f32
  %r = math.rsqrt %u : f32
  %h = arith.mulf %d, %r : f32
  %y = arith.mulf %h, %w : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK: @rows2: {{.*}} ok
mtc.kernel_function @rows2 [7, 2] reduce [1] -> [tensor<7xf32>] {
^body(%a: tensor<7x2xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x2xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
}

// CHECK: @rows15: {{.*}} ok
mtc.kernel_function @rows15 [7, 15] reduce [1] -> [tensor<7xf64>] {
^body(%a: tensor<7x15xf64>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x15xf64> -> f64
  %s = mtc.kernel.reduce mul %x : f64
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f64
}

// CHECK: @rows16: {{.*}} ok
mtc.kernel_function @rows16 [7, 16] reduce [1] -> [tensor<7xi32>] attributes {run.ranges = [[-50, 50]]} {
^body(%a: tensor<7x16xi32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x16xi32> -> i32
  %s = mtc.kernel.reduce min %x : i32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : i32
}

// CHECK: @rows17: {{.*}} ok
mtc.kernel_function @rows17 [7, 17] reduce [1] -> [tensor<7xui8>] attributes {run.ranges = [[0, 256]]} {
^body(%a: tensor<7x17xui8>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x17xui8> -> i8
  %s = mtc.kernel.reduce max %x unsigned : i8
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : i8
}

// CHECK: @rows63: {{.*}} ok
mtc.kernel_function @rows63 [7, 63] reduce [1] -> [tensor<7xi1>, tensor<7xi1>] {
^body(%a: tensor<7x63xi1>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<7x63xi1> -> i1
  %s = mtc.kernel.reduce or %x : i1
  %t = mtc.kernel.reduce and %x : i1
  mtc.kernel.yield %s, %t at [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>] : i1, i1
}

// Two reduced dims that are contiguous, and two that are not.
// CHECK: @merged: {{.*}} ok
mtc.kernel_function @merged [3, 5, 13] reduce [1, 2] -> [tensor<3xf32>] {
^body(%a: tensor<3x5x13xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x5x13xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d0)>] : f32
}

// CHECK: @apart: {{.*}} ok
mtc.kernel_function @apart [3, 5, 70] reduce [1, 2] -> [tensor<3xf32>] {
^body(%a: tensor<5x3x70xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d1, d0, d2)> : tensor<5x3x70xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d0)>] : f32
}

// CHECK: @all: items 1 {{.*}} ok
mtc.kernel_function @all [1234] reduce [0] -> [tensor<f32>] {
^body(%a: tensor<1234xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<1234xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0) -> ()>] : f32
}
