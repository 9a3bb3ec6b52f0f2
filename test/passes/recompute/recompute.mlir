// Kernels and calls are recomputed before the first of their late users, to reduce the live bytes at the peak.
//
// RUN: mtc-opt %s -split-input-file --mtc-recompute=recompute=all | FileCheck %s
// RUN: mtc-opt %s -split-input-file --mtc-recompute | FileCheck %s --check-prefix=KEPT
// RUN: mtc-opt %s -split-input-file --mtc-fit="recompute=none tile=none memory=1" | FileCheck %s --check-prefix=KEPT
// RUN: mtc-opt %s -split-input-file --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=BEFORE
// RUN: mtc-opt %s -split-input-file --mtc-recompute=recompute=all --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=AFTER
// RUN: mtc-opt %s -split-input-file --mtc-fit="memory=37000 tile=none" --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=BUDGET
// RUN: not mtc-opt %s -split-input-file --mtc-recompute=recompute=some 2>&1 | FileCheck %s --check-prefix=CHOICE
// CHOICE: for the --recompute option: Cannot find option named 'some'

// KEPT-NOT: mtc.recomputed

// BEFORE: size 51200
// BEFORE-NEXT: size 51200
// BEFORE-NEXT: size 98304
// BEFORE-NEXT: size 83200
// AFTER: size 34816
// AFTER-NEXT: size 51200
// AFTER-NEXT: size 81920
// AFTER-NEXT: size 66816
// BUDGET: size 34816

// A contraction is recomputed before its second user.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: %[[W:.*]] = mtc.read @w
// CHECK-NEXT: %[[H:.*]] = mtc.contract %arg0, %[[W]]
// CHECK-NEXT: %[[S:.*]] = mtc.contract %[[H]], %[[H]]
// CHECK: %[[AGAIN:.*]] = mtc.contract %arg0, %[[W]] {{.*}} {mtc.recomputed}
// CHECK-NEXT: mtc.contract %{{.*}}, %[[AGAIN]]
mtc.variable parameter @w : tensor<4x64xf32> = #mtc.zeros
func.func @product(%x: tensor<4x64xf32> {mtc.name = "x"}) -> (tensor<4x64xf32> {mtc.name = "y"}, tensor<4x64xf32> {mtc.name = "z"}) {
  %w = mtc.read @w : tensor<4x64xf32>
  %h = mtc.contract %x, %w batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %s = mtc.contract %h, %h batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t = mtc.contract %s, %x batch [] x [] over [0] x [1] : tensor<64x64xf32>, tensor<4x64xf32> -> tensor<64x4xf32>
  %large = mtc.contract %t, %x batch [] x [] over [1] x [0] : tensor<64x4xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %larger = mtc.contract %large, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %x, %larger batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %z = mtc.contract %y, %h batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  return %y, %z : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// A read of a variable is saved if the variable has a new value at the later use.
// CHECK-LABEL: func.func @replaced
// CHECK-NOT: mtc.recomputed
mtc.variable parameter @w : tensor<4x64xf32> = #mtc.zeros
func.func @replaced(%x: tensor<4x64xf32> {mtc.name = "x"}) -> (tensor<4x64xf32> {mtc.name = "y"}, tensor<4x64xf32> {mtc.name = "z"}) {
  %w = mtc.read @w : tensor<4x64xf32>
  %h = mtc.contract %x, %w batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %n = mtc.contract %x, %h batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  mtc.write @w, %n : tensor<4x64xf32>
  %large = mtc.contract %x, %x batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %larger = mtc.contract %large, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %x, %larger batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %z = mtc.contract %y, %h batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  return %y, %z : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// In a chain, the value that is needed last is recomputed; another one is needed at the peak.
// CHECK-LABEL: func.func @chain
// CHECK: %[[D:.*]] = mtc.contract
// CHECK: %[[AGAIN:.*]] = mtc.contract %arg0, %{{.*}} {mtc.recomputed}
// CHECK-NEXT: mtc.contract %{{.*}}, %[[AGAIN]]
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @chain(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<4x4xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %a = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %b = mtc.contract %a, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %c = mtc.contract %b, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %d = mtc.contract %c, %b batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %e = mtc.contract %d, %a batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %s = mtc.kernel [4, 4](%e) : (tensor<64x64xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %s : tensor<4x4xf32>
}

// -----

// The normalized row is recomputed from the centered row and its deviation, which are live, unlike the operand of the kernel.
// CHECK-LABEL: func.func @slice
// CHECK: %[[N:.*]]:3 = mtc.kernel [64, 64] reduce [1]
// CHECK: mtc.write @v
// CHECK: %[[AGAIN:.*]] = mtc.kernel [64, 64](%[[N]]#1, %[[N]]#2) attributes {mtc.recomputed} : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
// CHECK-NOT: mtc.kernel.reduce
// CHECK: mtc.contract %{{.*}}, %[[AGAIN]]
mtc.variable parameter @v : tensor<64x64xf32> = #mtc.zeros
func.func @slice(%x: tensor<4x64xf32> {mtc.name = "x"}) -> (tensor<4x64xf32> {mtc.name = "y"}, tensor<4x64xf32> {mtc.name = "z"}) {
  %v = mtc.read @v : tensor<64x64xf32>
  %n:3 = mtc.kernel [64, 64] reduce [1](%v) : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<64x64xf32>):
    %e = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %m = mtc.kernel.reduce add %e : f32
    %c = arith.subf %e, %m : f32
    %q = arith.mulf %c, %c : f32
    %s = mtc.kernel.reduce add %q : f32
    %r = math.rsqrt %s : f32
    %o = arith.mulf %c, %r : f32
    mtc.kernel.yield %o, %c, %r at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32, f32
  }
  %h = mtc.contract %x, %n#0 batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %new = mtc.contract %h, %x batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  mtc.write @v, %new : tensor<64x64xf32>
  %large = mtc.contract %x, %h batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %larger = mtc.contract %large, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %x, %larger batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %z = mtc.contract %y, %n#0 batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %g = mtc.kernel [4, 64](%z, %n#1, %n#2) : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<4x64xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64xf32>):
    %0 = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x64xf32> -> f32
    %1 = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %2 = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0)> : tensor<64xf32> -> f32
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.mulf %3, %2 : f32
    mtc.kernel.yield %4 at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %y, %g : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// A part of a kernel must not recompute its reductions, which might sum in another order: the whole kernel is recomputed.
// CHECK-LABEL: func.func @whole
// CHECK: mtc.kernel [64, 64] reduce [1]
// CHECK: %[[AGAIN:.*]]:2 = mtc.kernel [64, 64] reduce [1](%{{.*}}) attributes {mtc.recomputed} : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: mtc.contract %{{.*}}, %[[AGAIN]]#0
mtc.variable parameter @v : tensor<64x64xf32> = #mtc.zeros
func.func @whole(%x: tensor<4x64xf32> {mtc.name = "x"}) -> (tensor<4x64xf32> {mtc.name = "y"}, tensor<4x64xf32> {mtc.name = "z"}) {
  %v = mtc.read @v : tensor<64x64xf32>
  %n:2 = mtc.kernel [64, 64] reduce [1](%v) : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%a: tensor<64x64xf32>):
    %e = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %m = mtc.kernel.reduce add %e : f32
    %c = arith.subf %e, %m : f32
    %q = arith.mulf %c, %c : f32
    mtc.kernel.yield %c, %q at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] : f32, f32
  }
  %h = mtc.contract %x, %n#1 batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %i = mtc.contract %h, %n#0 batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %large = mtc.contract %x, %i batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %larger = mtc.contract %large, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %largest = mtc.contract %larger, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %x, %largest batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %z = mtc.contract %y, %n#0 batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  return %y, %z : tensor<4x64xf32>, tensor<4x64xf32>
}
