// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-epilogues,mtc-fuse-activations))' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-epilogues,mtc-fuse-activations))' --remarks-filter=mtc-fuse-activations --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// The kernel of a bias and ReLU is fused into the call, and the sums are not stored.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-activations {{.*}}activation=relu, auxiliary=none
// CHECK-LABEL: func.func @relu
// CHECK: %[[ROWS:.*]] = mtc.strided_view %arg2 offset 0 strides [0, 1] : tensor<16xf32> -> tensor<6x16xf32>
// CHECK: %[[R:.*]] = mtc.fused_contract %arg0, %arg1 batch [] x [] over [1] x [0] adding %[[ROWS]] : tensor<6x16xf32> then {{ *}}relu : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
// CHECK-NEXT: return %[[R]]
func.func @relu(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<6x16xf32> {
  %z = mtc.constant dense<0.0> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %c = mtc.broadcast %b axes [0] : tensor<16xf32> -> tensor<6x16xf32>
  %s = mtc.add %p, %c : tensor<6x16xf32>
  %n = mtc.compare le %s, %z : tensor<6x16xf32> -> tensor<6x16xi1>
  %r = mtc.select %n, %z, %s : tensor<6x16xi1>, tensor<6x16xf32>
  return %r : tensor<6x16xf32>
}

// -----

// max(x, 0), which returns 0 for NaN unlike the select, is not ReLU; nor is ReLU fused if its operand has other users.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-activations {{.*}}the library does not support it, or is slower
// CHECK-LABEL: func.func @relu_and_sum
// CHECK-NOT: fused_contract
func.func @relu_and_sum(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %z = mtc.constant dense<0.0> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %n = mtc.compare le %p, %z : tensor<6x16xf32> -> tensor<6x16xi1>
  %r = mtc.select %n, %z, %p : tensor<6x16xi1>, tensor<6x16xf32>
  return %r, %p : tensor<6x16xf32>, tensor<6x16xf32>
}

// -----

// CHECK-LABEL: func.func @relu_otherwise
// CHECK-NOT: fused_contract
func.func @relu_otherwise(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>) -> tensor<6x16xf32> {
  %z = mtc.constant dense<0.0> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %n = mtc.compare gt %p, %z : tensor<6x16xf32> -> tensor<6x16xi1>
  %r = mtc.select %n, %p, %z : tensor<6x16xi1>, tensor<6x16xf32>
  return %r : tensor<6x16xf32>
}

// -----

// The GELU computes its cube as x (x x), and its gradient has another form. The first kernel's result for the second is no longer needed,
// and both kernels are fused.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-activations {{.*}}activation=gelu_gradient, auxiliary=none
// REMARK: remark: [Passed] fused | Category:mtc-fuse-activations {{.*}}activation=gelu, auxiliary=preactivation
// CHECK-LABEL: func.func @gelu
// CHECK: %[[A:.*]], %[[Z:.*]] = mtc.fused_contract %arg0, %arg1 batch [] x [] over [1] x [0] adding %{{.*}} : tensor<6x16xf32> then {{ *}}gelu : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32> auxiliary tensor<6x16xf32>
// CHECK-NOT: mtc.kernel
// CHECK: %[[G:.*]] = mtc.fused_contract %arg3, %arg4 batch [] x [] over [1] x [1] then {{ *}}gelu_gradient at %[[Z]] : tensor<6x16xf32> : tensor<6x4xf32>, tensor<16x4xf32> -> tensor<6x16xf32>
// CHECK-NOT: mtc.kernel
// CHECK: return %[[A]], %[[G]]
func.func @gelu(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %u: tensor<6x4xf32>, %v: tensor<16x4xf32>)
    -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %half = mtc.constant dense<0.5> : tensor<6x16xf32>
  %one = mtc.constant dense<1.0> : tensor<6x16xf32>
  %cubic = mtc.constant dense<0.044715> : tensor<6x16xf32>
  %scale = mtc.constant dense<0.7978845608028654> : tensor<6x16xf32>
  %three = mtc.constant dense<0.134145> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %c = mtc.broadcast %b axes [0] : tensor<16xf32> -> tensor<6x16xf32>
  %s = mtc.add %p, %c : tensor<6x16xf32>
  %s2 = mtc.mul %s, %s : tensor<6x16xf32>
  %s3 = mtc.mul %s, %s2 : tensor<6x16xf32>
  %q = mtc.mul %s3, %cubic : tensor<6x16xf32>
  %r = mtc.add %s, %q : tensor<6x16xf32>
  %i = mtc.mul %r, %scale : tensor<6x16xf32>
  %t = mtc.tanh %i : tensor<6x16xf32>
  %t1 = mtc.add %t, %one : tensor<6x16xf32>
  %h = mtc.mul %s, %half : tensor<6x16xf32>
  %a = mtc.mul %h, %t1 : tensor<6x16xf32>
  %d = mtc.contract %u, %v batch [] x [] over [1] x [1] : tensor<6x4xf32>, tensor<16x4xf32> -> tensor<6x16xf32>
  // (1 + t) / 2 + s / 2 (1 - t^2) scale (1 + 3 cubic s^2)
  %tt = mtc.mul %t, %t : tensor<6x16xf32>
  %ot = mtc.sub %one, %tt : tensor<6x16xf32>
  %k = mtc.mul %s2, %three : tensor<6x16xf32>
  %k1 = mtc.add %k, %one : tensor<6x16xf32>
  %ks = mtc.mul %k1, %scale : tensor<6x16xf32>
  %m = mtc.mul %ot, %ks : tensor<6x16xf32>
  %hm = mtc.mul %h, %m : tensor<6x16xf32>
  %ht = mtc.mul %t1, %half : tensor<6x16xf32>
  %l = mtc.add %hm, %ht : tensor<6x16xf32>
  %g = mtc.mul %d, %l : tensor<6x16xf32>
  return %a, %g : tensor<6x16xf32>, tensor<6x16xf32>
}

// -----

// The GELU with erf is another function.
// CHECK-LABEL: func.func @gelu_by_erf
// CHECK-NOT: fused_contract
func.func @gelu_by_erf(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>) -> tensor<6x16xf32> {
  %half = mtc.constant dense<0.5> : tensor<6x16xf32>
  %one = mtc.constant dense<1.0> : tensor<6x16xf32>
  %scale = mtc.constant dense<0.7071067811865476> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %i = mtc.mul %p, %scale : tensor<6x16xf32>
  %e = mtc.erf %i : tensor<6x16xf32>
  %e1 = mtc.add %e, %one : tensor<6x16xf32>
  %h = mtc.mul %p, %half : tensor<6x16xf32>
  %a = mtc.mul %h, %e1 : tensor<6x16xf32>
  return %a : tensor<6x16xf32>
}

// -----

// The GELU is x times a logistic function. A function with a constant that differs in the fourth digit is not fused.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-activations {{.*}}activation=gelu, auxiliary=none
// CHECK-LABEL: func.func @gelu_by_exp
// CHECK: mtc.fused_contract {{.*}} then gelu
// CHECK-NOT: fused_contract
func.func @gelu_by_exp(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>, %v: tensor<8x16xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %one = mtc.constant dense<1.0> : tensor<6x16xf32>
  %linear = mtc.constant dense<-1.5957691216057308> : tensor<6x16xf32>
  %cubic = mtc.constant dense<-0.07135481282> : tensor<6x16xf32>
  %other = mtc.constant dense<-1.5953> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %p2 = mtc.mul %p, %p : tensor<6x16xf32>
  %p3 = mtc.mul %p, %p2 : tensor<6x16xf32>
  %q = mtc.mul %p3, %cubic : tensor<6x16xf32>
  %l = mtc.mul %p, %linear : tensor<6x16xf32>
  %i = mtc.add %l, %q : tensor<6x16xf32>
  %e = mtc.exp %i : tensor<6x16xf32>
  %e1 = mtc.add %e, %one : tensor<6x16xf32>
  %a = mtc.div %p, %e1 : tensor<6x16xf32>
  %r = mtc.contract %x, %v batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %r2 = mtc.mul %r, %r : tensor<6x16xf32>
  %r3 = mtc.mul %r, %r2 : tensor<6x16xf32>
  %rq = mtc.mul %r3, %cubic : tensor<6x16xf32>
  %rl = mtc.mul %r, %other : tensor<6x16xf32>
  %ri = mtc.add %rl, %rq : tensor<6x16xf32>
  %re = mtc.exp %ri : tensor<6x16xf32>
  %re1 = mtc.add %re, %one : tensor<6x16xf32>
  %ra = mtc.div %r, %re1 : tensor<6x16xf32>
  return %a, %ra : tensor<6x16xf32>, tensor<6x16xf32>
}

// -----

// A kernel that computes more than the activation needs the contraction's result in any case.
// CHECK-LABEL: func.func @goes_on
// CHECK-NOT: fused_contract
func.func @goes_on(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>) -> tensor<6xf32> {
  %z = mtc.constant dense<0.0> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %n = mtc.compare le %p, %z : tensor<6x16xf32> -> tensor<6x16xi1>
  %r = mtc.select %n, %z, %p : tensor<6x16xi1>, tensor<6x16xf32>
  %s = mtc.reduce add %r axes [1] : tensor<6x16xf32> -> tensor<6xf32>
  return %s : tensor<6xf32>
}

// -----

// The addend is computed after the call, by another call.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-activations {{.*}}the added operand is computed after the call
// CHECK-LABEL: func.func @added_after
// CHECK-NOT: fused_contract
func.func @added_after(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>, %v: tensor<16x16xf32>) -> (tensor<6x16xf32>, tensor<16xf32>) {
  %z = mtc.constant dense<0.0> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %b = mtc.reduce add %v axes [0] : tensor<16x16xf32> -> tensor<16xf32>
  %c = mtc.broadcast %b axes [0] : tensor<16xf32> -> tensor<6x16xf32>
  %s = mtc.add %p, %c : tensor<6x16xf32>
  %n = mtc.compare le %s, %z : tensor<6x16xf32> -> tensor<6x16xi1>
  %r = mtc.select %n, %z, %s : tensor<6x16xi1>, tensor<6x16xf32>
  return %r, %b : tensor<6x16xf32>, tensor<16xf32>
}

// -----

// Two kernels each compute the sum, so the call stores it for the second kernel.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-activations {{.*}}activation=gelu, auxiliary=preactivation
// CHECK-LABEL: func.func @sum_twice
// CHECK: %[[A:.*]], %[[Z:.*]] = mtc.fused_contract %arg0, %arg1 batch [] x [] over [1] x [0] adding %{{.*}} : tensor<6x16xf32> then {{ *}}gelu : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32> auxiliary tensor<6x16xf32>
// CHECK: %[[D:.*]] = mtc.contract %[[A]], %arg3
// CHECK: mtc.kernel [6, 16](%[[D]], %[[Z]]) :
// CHECK-NOT: arith.addf
func.func @sum_twice(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %v: tensor<16x16xf32>) -> tensor<6x16xf32> {
  %one = mtc.constant dense<1.0> : tensor<6x16xf32>
  %linear = mtc.constant dense<-1.5957691216057308> : tensor<6x16xf32>
  %cubic = mtc.constant dense<-0.07135481282> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x16xf32> -> tensor<6x16xf32>
  %c = mtc.broadcast %b axes [0] : tensor<16xf32> -> tensor<6x16xf32>
  %s = mtc.add %p, %c : tensor<6x16xf32>
  %s2 = mtc.mul %s, %s : tensor<6x16xf32>
  %s3 = mtc.mul %s, %s2 : tensor<6x16xf32>
  %q = mtc.mul %s3, %cubic : tensor<6x16xf32>
  %l = mtc.mul %s, %linear : tensor<6x16xf32>
  %i = mtc.add %l, %q : tensor<6x16xf32>
  %e = mtc.exp %i : tensor<6x16xf32>
  %e1 = mtc.add %e, %one : tensor<6x16xf32>
  %a = mtc.div %s, %e1 : tensor<6x16xf32>
  %d = mtc.contract %a, %v batch [] x [] over [1] x [0] : tensor<6x16xf32>, tensor<16x16xf32> -> tensor<6x16xf32>
  %m = mtc.mul %d, %s : tensor<6x16xf32>
  return %m : tensor<6x16xf32>
}

// -----

// The activation of a value that is converted after the call is not fused, nor is an addition in a wider type.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-activations {{.*}}the library does not support it, or is slower
// CHECK-LABEL: func.func @other_types
// CHECK-NOT: fused_contract
func.func @other_types(%x: tensor<6x8xbf16>, %w: tensor<8x16xbf16>, %v: tensor<8x16xbf16>, %b: tensor<16xf32>)
    -> (tensor<6x16xf32>, tensor<6x16xbf16>) {
  %z = mtc.constant dense<0.0> : tensor<6x16xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x16xbf16> -> tensor<6x16xbf16>
  %q = mtc.cast %p : tensor<6x16xbf16> -> tensor<6x16xf32>
  %n = mtc.compare le %q, %z : tensor<6x16xf32> -> tensor<6x16xi1>
  %r = mtc.select %n, %z, %q : tensor<6x16xi1>, tensor<6x16xf32>
  %p2 = mtc.contract %x, %v batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x16xbf16> -> tensor<6x16xbf16>
  %s = mtc.kernel [6, 16] (%p2, %b) : (tensor<6x16xbf16>, tensor<16xf32>) -> tensor<6x16xbf16> {
  ^bb0(%a: tensor<6x16xbf16>, %c: tensor<16xf32>):
    %zero = arith.constant 0.0 : f32
    %l = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<6x16xbf16> -> f32
    %m = mtc.kernel.load %c at affine_map<(d0, d1) -> (d1)> : tensor<16xf32> -> f32
    %t = arith.addf %l, %m : f32
    %o = arith.cmpf ole, %t, %zero : f32
    %u = arith.select %o, %zero, %t : f32
    mtc.kernel.yield %u at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %r, %s : tensor<6x16xf32>, tensor<6x16xbf16>
}
