// RUN: mtc-opt %s -mlir-print-local-scope | mtc-opt -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @row_reduction
func.func @row_reduction(%x: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32xf32>) {
  // CHECK: mtc.kernel [32, 64] reduce [1](%{{.*}}) : (tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32xf32>)
  %y, %s = mtc.kernel [32, 64] reduce [1] (%x) : (tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32xf32>) {
  ^body(%a: tensor<32x64xf32>):
    // CHECK: mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (d0, d1)> : tensor<32x64xf32> -> f32
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<32x64xf32> -> f32
    // CHECK: mtc.kernel.reduce {{ *}}max %{{.*}} : f32
    %r = mtc.kernel.reduce max %v : f32
    %d = arith.subf %v, %r : f32
    // CHECK: mtc.kernel.yield %{{.*}}, %{{.*}} at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
    mtc.kernel.yield %d, %r at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
  }
  return %y, %s : tensor<32x64xf32>, tensor<32xf32>
}

// CHECK-LABEL: func.func @onto
func.func @onto(%x: tensor<9x4xf32>, %i: tensor<9xi64>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %z = mtc.kernel [9, 4] reduce [0] (%x, %i, %y) : (tensor<9x4xf32>, tensor<9xi64>, tensor<5x4xf32>) -> tensor<5x4xf32> {
  ^body(%a: tensor<9x4xf32>, %b: tensor<9xi64>, %c: tensor<5x4xf32>):
    %n = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<9xi64> -> i64
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x4xf32> -> f32
    // CHECK: mtc.kernel.yield %{{.*}} at [affine_map<(d0, d1)[s0] -> (s0, d1)>][%{{.*}}] add [0] onto %{{.*}} : tensor<5x4xf32> : f32
    mtc.kernel.yield %v at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%n] add [0] onto %c : tensor<5x4xf32> : f32
  }
  return %z : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<9x4xf32>, %i: tensor<9xi64>) -> tensor<5x4xf32> {
  // CHECK: mtc.kernel [9, 4] reduce [0](%{{.*}}, %{{.*}})
  %y = mtc.kernel [9, 4] reduce [0] (%x, %i) : (tensor<9x4xf32>, tensor<9xi64>) -> tensor<5x4xf32> {
  ^body(%a: tensor<9x4xf32>, %b: tensor<9xi64>):
    %n = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<9xi64> -> i64
    // CHECK: mtc.kernel.check %{{.*}} below 5
    %j = mtc.kernel.check %n below 5
    // CHECK: mtc.kernel.index affine_map<(d0, d1) -> (d0 * 4 + d1)>
    %k = mtc.kernel.index affine_map<(d0, d1) -> (d0 * 4 + d1)>
    %c = arith.constant 7 : i64
    %g = arith.cmpi slt, %k, %c : i64
    %z = arith.constant 0.0 : f32
    // CHECK: mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (d0, d1)> if %{{.*}} else %{{.*}} : f32 : tensor<9x4xf32> -> f32
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> if %g else %z : f32 : tensor<9x4xf32> -> f32
    // CHECK: mtc.kernel.yield %{{.*}} at [affine_map<(d0, d1)[s0] -> (s0, d1)>][%{{.*}}] add [0] : f32
    mtc.kernel.yield %v at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] : f32
  }
  return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @add_rows
func.func @add_rows(%x: tensor<512x64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %z = mtc.kernel [64] (%x, %y) : (tensor<512x64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^body(%a: tensor<512x64xf32>, %b: tensor<64xf32>):
    %c = arith.constant 9.0 : f32
    %g = arith.constant true
    %sum = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<64xf32> -> f32
    // CHECK: mtc.kernel.add_rows %{{.*}} at affine_map<(d0)[s0] -> (s0, d0)> onto %{{.*}} : f32 : tensor<512x64xf32> -> f32
    %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0)> onto %sum : f32 : tensor<512x64xf32> -> f32
    // CHECK: mtc.kernel.add_rows %{{.*}} at affine_map<(d0)[s0] -> (s0, d0)> decay %{{.*}} : f32 if %{{.*}} : tensor<512x64xf32> -> f32
    %t = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0)> decay %c : f32 if %g : tensor<512x64xf32> -> f32
    %r = arith.addf %s, %t : f32
    mtc.kernel.yield %r at [affine_map<(d0) -> (d0)>] : f32
  }
  return %z : tensor<64xf32>
}
