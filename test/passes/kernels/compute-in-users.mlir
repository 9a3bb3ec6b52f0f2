// RUN: mtc-opt %s --mtc-compute-in-users=min-bytes=1024 -split-input-file -mlir-print-local-scope | FileCheck %s
// RUN: mtc-opt %s --mtc-compute-in-users -split-input-file -mlir-print-local-scope | FileCheck %s --check-prefix=SMALL

// Results below 64 KiB are stored.
// SMALL: %{{.*}}:2 = mtc.kernel [16, 64]

// The user after the contraction also reads %x, so it computes the tanh itself.
// CHECK-LABEL: func.func @common
// CHECK: %[[Y:.*]] = mtc.kernel [16, 64](%[[X:.*]]) : (tensor<16x64xf32>) -> tensor<16x64xf32>
// CHECK: %[[D:.*]] = mtc.contract %[[Y]]
// CHECK: mtc.kernel [16, 64](%[[D]], %[[X]]) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
// CHECK: %[[V:.*]] = mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
// CHECK: %[[T:.*]] = math.tanh %{{.*}} : f32
// CHECK: mtc.kernel.yield
func.func @common(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %y:2 = mtc.kernel [16, 64](%x) : (tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  ^bb0(%a: tensor<16x64xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %t = math.tanh %v : f32
    %p = arith.mulf %v, %t : f32
    mtc.kernel.yield %p, %t at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] : f32, f32
  }
  %d = mtc.contract %y#0, %w batch [] x [] over [1] x [0] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
  %g = mtc.kernel [16, 64](%d, %y#1, %x) : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32> {
  ^bb0(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>, %c: tensor<16x64xf32>):
    %0 = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %1 = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %2 = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    mtc.kernel.yield %4 at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %g : tensor<16x64xf32>
}

// -----

// A normalized row is computed from the centered row and its deviation, which its user reads: no sum is recomputed.
// CHECK-LABEL: func.func @normalized
// CHECK: %[[N:.*]]:3 = mtc.kernel [16, 64] reduce [1]
// CHECK: mtc.kernel.yield %{{.*}}, %{{.*}}, %{{.*}} at
// CHECK: mtc.kernel [16, 64](%{{.*}}, %[[N]]#1, %[[N]]#2)
// CHECK-NOT: mtc.kernel.reduce
// CHECK: return
func.func @normalized(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> (tensor<16x64xf32>) {
  %y:4 = mtc.kernel [16, 64] reduce [1](%x) : (tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<16x64xf32>) {
  ^bb0(%a: tensor<16x64xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %m = mtc.kernel.reduce add %v : f32
    %c = arith.subf %v, %m : f32
    %q = arith.mulf %c, %c : f32
    %s = mtc.kernel.reduce add %q : f32
    %r = math.rsqrt %s : f32
    %n = arith.mulf %c, %r : f32
    mtc.kernel.yield %n, %c, %r, %n at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>] : f32, f32, f32, f32
  }
  %d = mtc.contract %y#0, %w batch [] x [] over [1] x [0] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
  %g = mtc.kernel [16, 64](%d, %y#3, %y#1, %y#2) : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>) -> tensor<16x64xf32> {
  ^bb0(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>, %c: tensor<16x64xf32>, %e: tensor<16xf32>):
    %0 = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %1 = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %2 = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %r = mtc.kernel.load %e at affine_map<(d0, d1) -> (d0)> : tensor<16xf32> -> f32
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    %5 = arith.addf %4, %r : f32
    mtc.kernel.yield %5 at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %g : tensor<16x64xf32>
}

// -----

// %x is dead after the contraction, so that the change would only replace one live value by another.
// CHECK-LABEL: func.func @dead
// CHECK: %[[Y:.*]]:2 = mtc.kernel [16, 64]
// CHECK: mtc.kernel [16, 64](%{{.*}}, %[[Y]]#1)
func.func @dead(%a: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %x = mtc.contract %a, %w batch [] x [] over [1] x [0] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
  %y:2 = mtc.kernel [16, 64](%x) : (tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  ^bb0(%b: tensor<16x64xf32>):
    %v = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %t = math.tanh %v : f32
    %p = arith.mulf %v, %t : f32
    mtc.kernel.yield %p, %t at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] : f32, f32
  }
  %d = mtc.contract %y#0, %w batch [] x [] over [1] x [0] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
  %g = mtc.kernel [16, 64](%d, %y#1) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32> {
  ^bb0(%b: tensor<16x64xf32>, %c: tensor<16x64xf32>):
    %0 = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %1 = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x64xf32> -> f32
    %2 = arith.mulf %0, %1 : f32
    mtc.kernel.yield %2 at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %g : tensor<16x64xf32>
}
