// Sums of rows in order are compared with the interpreter, which adds in the same order: results are bit-identical.
// RUN: mtc-run --check --tolerance 0 %s | FileCheck %s
// RUN: mtc-run --check --tolerance 0 --target cuda --emulate %s | FileCheck %s

// There are more rows than a reduction adds to one partial sum.
// CHECK: @onto: {{.*}} ok
mtc.kernel_function @onto [300] -> [tensor<300xf32>] {
^body(%a: tensor<1000x301xf32>, %b: tensor<300xf32>):
  %old = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<300xf32> -> f32
  %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0 + 1)> onto %old : f32 : tensor<1000x301xf32> -> f32
  mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
}

// Shards of two values, aligned for vectors.
// CHECK: @pieces: {{.*}} ok
mtc.kernel_function @pieces [4, 256] -> [tensor<4x256xf32>] {
^body(%a: tensor<7x1024xf32>):
  %s = mtc.kernel.add_rows %a at affine_map<(d0, d1)[s0] -> (s0, d0 * 256 + d1)> : tensor<7x1024xf32> -> f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// A scalar, like the loss.
// CHECK: @loss: {{.*}} ok
mtc.kernel_function @loss [1] -> [tensor<f64>] {
^body(%a: tensor<4096x2xf64>, %b: tensor<f64>):
  %old = mtc.kernel.load %b at affine_map<(d0) -> ()> : tensor<f64> -> f64
  %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, 1)> onto %old : f64 : tensor<4096x2xf64> -> f64
  mtc.kernel.yield %s at [affine_map<(d0) -> ()>] : f64
}

// A moving average.
// CHECK: @decay: {{.*}} ok
mtc.kernel_function @decay [67] -> [tensor<67xf32>] {
^body(%a: tensor<20x67xf32>, %b: tensor<67xf32>):
  %d = arith.constant 0.9 : f32
  %old = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<67xf32> -> f32
  %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0)> onto %old : f32 decay %d : f32 : tensor<20x67xf32> -> f32
  mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
}

// A guard excludes columns in some of the iterations.
// CHECK: @guarded: {{.*}} ok
mtc.kernel_function @guarded [80] -> [tensor<80xf32>] {
^body(%a: tensor<9x70xf32>):
  %c = arith.constant 70 : i64
  %zero = arith.constant 0.0 : f32
  %i = mtc.kernel.index affine_map<(d0) -> (d0)>
  %g = arith.cmpi slt, %i, %c : i64
  %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0)> if %g : tensor<9x70xf32> -> f32
  %r = arith.select %g, %s, %zero : f32
  mtc.kernel.yield %r at [affine_map<(d0) -> (d0)>] : f32
}

// The squares of the sums are reduced, as for a norm.
// CHECK: @norm: {{.*}} ok
mtc.kernel_function @norm [3, 256] reduce [1] -> [tensor<3x256xf32>, tensor<3xf32>] {
^body(%a: tensor<5x768xf32>):
  %s = mtc.kernel.add_rows %a at affine_map<(d0, d1)[s0] -> (s0, d0 * 256 + d1)> : tensor<5x768xf32> -> f32
  %m = mtc.kernel.reduce max %s : f32
  mtc.kernel.yield %s, %m at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}
