// Attention in each form that is recognized.
// RUN: mtc-opt %s -mtc-forward-pipeline | FileCheck %s
// In f64, the recognized form and the decomposed form of this text have equal values.
// RUN: sed s/f32/f64/g %s | sed s/0xFF800000/0xFFF0000000000000/g > %t.mlir
// RUN: mtc-opt %t.mlir -mtc-forward-pipeline -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope > %t.whole
// RUN: mtc-opt %t.mlir -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope > %t.parts
// RUN: %python %support/same_values.py %t.parts %t.whole

// The scores are scaled.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x3x8xf32>, %[[K:.*]]: tensor<2x4x3x8xf32>, %[[V:.*]]: tensor<2x4x3x8xf32>)
// CHECK-NEXT: %[[O:.*]], %{{.*}} = mtc.attention %[[Q]], %[[K]], %[[V]] scale 5.000000e-01
// CHECK-NEXT: return %[[O]]
func.func @plain(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %c = mtc.constant dense<0.5> : tensor<2x4x3x3xf32>
  %x = mtc.mul %s, %c : tensor<2x4x3x3xf32>
  %max = mtc.reduce max %x axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %x, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// Both operands are multiplied by the square root of the scale, keys are transposed, a constant mask is added, and rows are guarded.
// CHECK-LABEL: func.func @causal_bias(
// CHECK-NOT: mtc.exp
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} causal 0 scale 2.500000e-01
func.func @causal_bias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %r = mtc.constant dense<0.5> : tensor<2x4x3x8xf32>
  %qs = mtc.mul %q, %r : tensor<2x4x3x8xf32>
  %kt = mtc.transpose %k [0, 1, 3, 2] : tensor<2x4x3x8xf32> -> tensor<2x4x8x3xf32>
  %rt = mtc.constant dense<0.5> : tensor<2x4x8x3xf32>
  %ks = mtc.mul %kt, %rt : tensor<2x4x8x3xf32>
  %s = mtc.contract %qs, %ks batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x8xf32>, tensor<2x4x8x3xf32> -> tensor<2x4x3x3xf32>
  %m = mtc.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %mm = mtc.broadcast %m axes [0, 1] : tensor<3x3xf32> -> tensor<2x4x3x3xf32>
  %x = mtc.add %s, %mm : tensor<2x4x3x3xf32>
  %max = mtc.reduce max %x axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %ninf = mtc.constant dense<0xFF800000> : tensor<2x4x3xf32>
  %zero = mtc.constant dense<0.0> : tensor<2x4x3xf32>
  %one = mtc.constant dense<1.0> : tensor<2x4x3xf32>
  %empty = mtc.compare eq %max, %ninf : tensor<2x4x3xf32> -> tensor<2x4x3xi1>
  %shift = mtc.select %empty, %zero, %max : tensor<2x4x3xi1>, tensor<2x4x3xf32>
  %mb = mtc.broadcast %shift axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %x, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %div = mtc.select %empty, %one, %sum : tensor<2x4x3xi1>, tensor<2x4x3xf32>
  %sb = mtc.broadcast %div axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// Keys and values are repeated for groups of three heads.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[Q:.*]]: tensor<2x6x3x8xf32>, %[[K:.*]]: tensor<2x2x3x8xf32>, %[[V:.*]]: tensor<2x2x3x8xf32>)
// CHECK-NEXT: mtc.attention %[[Q]], %[[K]], %[[V]] scale 1.000000e+00
func.func @repeated(%q: tensor<2x6x3x8xf32>, %k: tensor<2x2x3x8xf32>, %v: tensor<2x2x3x8xf32>) -> tensor<2x6x3x8xf32> {
  %kb = mtc.broadcast %k axes [2] : tensor<2x2x3x8xf32> -> tensor<2x2x3x3x8xf32>
  %kr = mtc.reshape %kb : tensor<2x2x3x3x8xf32> -> tensor<2x6x3x8xf32>
  %vb = mtc.broadcast %v axes [2] : tensor<2x2x3x8xf32> -> tensor<2x2x3x3x8xf32>
  %vr = mtc.reshape %vb : tensor<2x2x3x3x8xf32> -> tensor<2x6x3x8xf32>
  %s = mtc.contract %q, %kr batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x6x3x8xf32>, tensor<2x6x3x8xf32> -> tensor<2x6x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x6x3x3xf32> -> tensor<2x6x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x6x3xf32> -> tensor<2x6x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x6x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x6x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x6x3x3xf32> -> tensor<2x6x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x6x3xf32> -> tensor<2x6x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x6x3x3xf32>
  %y = mtc.contract %p, %vr batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x6x3x3xf32>, tensor<2x6x3x8xf32> -> tensor<2x6x3x8xf32>
  return %y : tensor<2x6x3x8xf32>
}

// Query heads that share keys have a separate axis.
// CHECK-LABEL: func.func @grouped(
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<2x6x3x8xf32>, tensor<2x2x3x8xf32>, tensor<2x2x3x8xf32>)
func.func @grouped(%q: tensor<2x6x3x8xf32>, %k: tensor<2x2x3x8xf32>, %v: tensor<2x2x3x8xf32>) -> tensor<2x6x3x8xf32> {
  %g = mtc.reshape %q : tensor<2x6x3x8xf32> -> tensor<2x2x3x3x8xf32>
  %s = mtc.contract %g, %k batch [0, 1] x [0, 1] over [4] x [3] : tensor<2x2x3x3x8xf32>, tensor<2x2x3x8xf32> -> tensor<2x2x3x3x3xf32>
  %x = mtc.reshape %s : tensor<2x2x3x3x3xf32> -> tensor<2x6x3x3xf32>
  %max = mtc.reduce max %x axes [3] : tensor<2x6x3x3xf32> -> tensor<2x6x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x6x3xf32> -> tensor<2x6x3x3xf32>
  %sub = mtc.sub %x, %mb : tensor<2x6x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x6x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x6x3x3xf32> -> tensor<2x6x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x6x3xf32> -> tensor<2x6x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x6x3x3xf32>
  %pg = mtc.reshape %p : tensor<2x6x3x3xf32> -> tensor<2x2x3x3x3xf32>
  %y = mtc.contract %pg, %v batch [0, 1] x [0, 1] over [4] x [2] : tensor<2x2x3x3x3xf32>, tensor<2x2x3x8xf32> -> tensor<2x2x3x3x8xf32>
  %o = mtc.reshape %y : tensor<2x2x3x3x8xf32> -> tensor<2x6x3x8xf32>
  return %o : tensor<2x6x3x8xf32>
}

// Batch and heads are one axis; the reshape that joined them determines both.
// CHECK-LABEL: func.func @joined(
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
func.func @joined(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %q3 = mtc.reshape %q : tensor<2x4x3x8xf32> -> tensor<8x3x8xf32>
  %k3 = mtc.reshape %k : tensor<2x4x3x8xf32> -> tensor<8x3x8xf32>
  %v3 = mtc.reshape %v : tensor<2x4x3x8xf32> -> tensor<8x3x8xf32>
  %s = mtc.contract %q3, %k3 batch [0] x [0] over [2] x [2] : tensor<8x3x8xf32>, tensor<8x3x8xf32> -> tensor<8x3x3xf32>
  %max = mtc.reduce max %s axes [2] : tensor<8x3x3xf32> -> tensor<8x3xf32>
  %mb = mtc.broadcast %max axes [2] : tensor<8x3xf32> -> tensor<8x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<8x3x3xf32>
  %exp = mtc.exp %sub : tensor<8x3x3xf32>
  %sum = mtc.reduce add %exp axes [2] : tensor<8x3x3xf32> -> tensor<8x3xf32>
  %sb = mtc.broadcast %sum axes [2] : tensor<8x3xf32> -> tensor<8x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<8x3x3xf32>
  %y = mtc.contract %p, %v3 batch [0] x [0] over [2] x [1] : tensor<8x3x3xf32>, tensor<8x3x8xf32> -> tensor<8x3x8xf32>
  %o = mtc.reshape %y : tensor<8x3x8xf32> -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// For a causal mask with padding, the causal part becomes an attribute, and only the padding remains a mask.
// CHECK-LABEL: func.func @mask_and_padding(
// CHECK-SAME: %[[PAD:[^:]*]]: tensor<2x3xi1>)
// CHECK: %[[M:.*]] = mtc.reshape %[[PAD]] : tensor<2x3xi1> -> tensor<2x1x1x3xi1>
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] causal 0 scale 5.000000e-01
func.func @mask_and_padding(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %pad: tensor<2x3xi1>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %c = mtc.constant dense<0.5> : tensor<2x4x3x3xf32>
  %x = mtc.mul %s, %c : tensor<2x4x3x3xf32>
  %t = mtc.constant dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
  %tb = mtc.broadcast %t axes [0] : tensor<1x3x3xi1> -> tensor<2x1x3x3xi1>
  %pr = mtc.reshape %pad : tensor<2x3xi1> -> tensor<2x1x3xi1>
  %pb = mtc.broadcast %pr axes [2] : tensor<2x1x3xi1> -> tensor<2x1x3x3xi1>
  %both = mtc.and %tb, %pb : tensor<2x1x3x3xi1>
  %none = mtc.constant dense<0xFF800000> : tensor<2x1x3x3xf32>
  %all = mtc.constant dense<0.0> : tensor<2x1x3x3xf32>
  %bias = mtc.select %both, %all, %none : tensor<2x1x3x3xi1>, tensor<2x1x3x3xf32>
  %b3 = mtc.reshape %bias : tensor<2x1x3x3xf32> -> tensor<2x3x3xf32>
  %b4 = mtc.broadcast %b3 axes [1] : tensor<2x3x3xf32> -> tensor<2x4x3x3xf32>
  %z = mtc.add %x, %b4 : tensor<2x4x3x3xf32>
  %max = mtc.reduce max %z axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %ninf = mtc.constant dense<0xFF800000> : tensor<2x4x3xf32>
  %zero = mtc.constant dense<0.0> : tensor<2x4x3xf32>
  %one = mtc.constant dense<1.0> : tensor<2x4x3xf32>
  %empty = mtc.compare eq %max, %ninf : tensor<2x4x3xf32> -> tensor<2x4x3xi1>
  %shift = mtc.select %empty, %zero, %max : tensor<2x4x3xi1>, tensor<2x4x3xf32>
  %mb = mtc.broadcast %shift axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %z, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %div = mtc.select %empty, %one, %sum : tensor<2x4x3xi1>, tensor<2x4x3xf32>
  %sb = mtc.broadcast %div axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// The mask compares positions, with two keys before the first query: keys up to i + 2 are visible.
// CHECK-LABEL: func.func @compared(
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} causal 2 scale 1.000000e+00
func.func @compared(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x3x5xf32>
  %i = mtc.iota 0 : tensor<3x5xi64>
  %j = mtc.iota 1 : tensor<3x5xi64>
  %two = mtc.constant dense<2> : tensor<3x5xi64>
  %last = mtc.add %i, %two : tensor<3x5xi64>
  %later = mtc.compare gt %j, %last : tensor<3x5xi64> -> tensor<3x5xi1>
  %lb = mtc.broadcast %later axes [0, 1] : tensor<3x5xi1> -> tensor<2x4x3x5xi1>
  %none = mtc.constant dense<-3.0e+38> : tensor<2x4x3x5xf32>
  %x = mtc.select %lb, %none, %s : tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>
  %max = mtc.reduce max %x axes [3] : tensor<2x4x3x5xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x5xf32>
  %sub = mtc.sub %x, %mb : tensor<2x4x3x5xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x5xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x5xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x5xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x5xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// A finite number for padded keys remains a bias, because a row that has only padding still has weights. The bias is computed once for all
// heads and queries.
// CHECK-LABEL: func.func @padding_bias(
// CHECK: %[[B:.*]] = mtc.select %{{.*}} : tensor<2x1x1x3xi1>, tensor<2x1x1x3xf32>
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] scale 5.000000e-01
func.func @padding_bias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %pad: tensor<2x3xi1>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %c = mtc.constant dense<0.5> : tensor<2x4x3x3xf32>
  %x = mtc.mul %s, %c : tensor<2x4x3x3xf32>
  %pr = mtc.reshape %pad : tensor<2x3xi1> -> tensor<2x1x3xi1>
  %pb = mtc.broadcast %pr axes [2] : tensor<2x1x3xi1> -> tensor<2x1x3x3xi1>
  %none = mtc.constant dense<-3.0e+38> : tensor<2x1x3x3xf32>
  %all = mtc.constant dense<0.0> : tensor<2x1x3x3xf32>
  %bias = mtc.select %pb, %all, %none : tensor<2x1x3x3xi1>, tensor<2x1x3x3xf32>
  %b3 = mtc.reshape %bias : tensor<2x1x3x3xf32> -> tensor<2x3x3xf32>
  %b4 = mtc.broadcast %b3 axes [1] : tensor<2x3x3xf32> -> tensor<2x4x3x3xf32>
  %z = mtc.add %x, %b4 : tensor<2x4x3x3xf32>
  %max = mtc.reduce max %z axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %z, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// The mask is a constant with the same keys for every query. It is not causal, although it equals one row of a causal mask.
// CHECK-LABEL: func.func @constant_keys(
// CHECK: %[[M:.*]] = mtc.constant dense<{{.*}}[true, true, false]{{.*}}> : tensor<1x1x1x3xi1>
// CHECK-NEXT: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] scale 1.000000e+00
func.func @constant_keys(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %m = mtc.constant dense<[true, true, false]> : tensor<3xi1>
  %mm = mtc.broadcast %m axes [0, 1, 2] : tensor<3xi1> -> tensor<2x4x3x3xi1>
  %ninf = mtc.constant dense<0xFF800000> : tensor<2x4x3x3xf32>
  %x = mtc.select %mm, %s, %ninf : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %max = mtc.reduce max %x axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %x, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @constant_bias_of_keys(
// CHECK: %[[B:.*]] = mtc.constant dense<{{.*}}[0.000000e+00, 0.000000e+00, 0xFF800000]{{.*}}> : tensor<1x1x1x3xf32>
// CHECK-NEXT: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] scale 1.000000e+00
func.func @constant_bias_of_keys(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %m = mtc.constant dense<[0.0, 0.0, 0xFF800000]> : tensor<3xf32>
  %mm = mtc.broadcast %m axes [0, 1, 2] : tensor<3xf32> -> tensor<2x4x3x3xf32>
  %x = mtc.add %s, %mm : tensor<2x4x3x3xf32>
  %max = mtc.reduce max %x axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %x, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// An almost causal mask is an ordinary mask; a bias before the scale is scaled.
// CHECK-LABEL: func.func @not_causal(
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} scale 5.000000e-01
func.func @not_causal(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %alibi: tensor<4x3xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %ab = mtc.broadcast %alibi axes [0, 2] : tensor<4x3xf32> -> tensor<2x4x3x3xf32>
  %sa = mtc.add %s, %ab : tensor<2x4x3x3xf32>
  %c = mtc.constant dense<0.5> : tensor<2x4x3x3xf32>
  %x = mtc.mul %sa, %c : tensor<2x4x3x3xf32>
  %m = mtc.constant dense<[[true, false, false], [true, true, true], [true, true, true]]> : tensor<3x3xi1>
  %mk = mtc.broadcast %m axes [0, 1] : tensor<3x3xi1> -> tensor<2x4x3x3xi1>
  %none = mtc.constant dense<0xFF800000> : tensor<2x4x3x3xf32>
  %z = mtc.select %mk, %x, %none : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %max = mtc.reduce max %z axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %z, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// The operands have neither batch nor heads.
// CHECK-LABEL: func.func @one_head(
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<1x1x3x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x4xf32>)
func.func @one_head(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %s = mtc.contract %q, %k batch [] x [] over [1] x [1] : tensor<3x8xf32>, tensor<5x8xf32> -> tensor<3x5xf32>
  %max = mtc.reduce max %s axes [1] : tensor<3x5xf32> -> tensor<3xf32>
  %mb = mtc.broadcast %max axes [1] : tensor<3xf32> -> tensor<3x5xf32>
  %sub = mtc.sub %s, %mb : tensor<3x5xf32>
  %exp = mtc.exp %sub : tensor<3x5xf32>
  %sum = mtc.reduce add %exp axes [1] : tensor<3x5xf32> -> tensor<3xf32>
  %sb = mtc.broadcast %sum axes [1] : tensor<3xf32> -> tensor<3x5xf32>
  %p = mtc.div %exp, %sb : tensor<3x5xf32>
  %y = mtc.contract %p, %v batch [] x [] over [1] x [0] : tensor<3x5xf32>, tensor<5x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// All query heads share one head of keys and values.
// CHECK-LABEL: func.func @shared_by_all(
// CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<2x4x3x8xf32>, tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>)
func.func @shared_by_all(%q: tensor<2x4x3x8xf32>, %k: tensor<2x3x8xf32>, %v: tensor<2x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %kb = mtc.broadcast %k axes [1] : tensor<2x3x8xf32> -> tensor<2x4x3x8xf32>
  %vb = mtc.broadcast %v axes [1] : tensor<2x3x8xf32> -> tensor<2x4x3x8xf32>
  %s = mtc.contract %q, %kb batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %vb batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// The rows of the weights are longer in the second contraction than in the softmax: this is not attention, although all elements are used.
// CHECK-LABEL: func.func @flattened(
// CHECK-SAME: fused = 0, decomposed = ["a reshape splits or merges its weights before the second matrix multiplication"]
// CHECK: mtc.exp
func.func @flattened(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<15x4xf32>) -> tensor<2x4xf32> {
  %s = mtc.contract %q, %k batch [0] x [0] over [2] x [2] : tensor<2x3x8xf32>, tensor<2x5x8xf32> -> tensor<2x3x5xf32>
  %max = mtc.reduce max %s axes [2] : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %mb = mtc.broadcast %max axes [2] : tensor<2x3xf32> -> tensor<2x3x5xf32>
  %sub = mtc.sub %s, %mb : tensor<2x3x5xf32>
  %exp = mtc.exp %sub : tensor<2x3x5xf32>
  %sum = mtc.reduce add %exp axes [2] : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %sb = mtc.broadcast %sum axes [2] : tensor<2x3xf32> -> tensor<2x3x5xf32>
  %p = mtc.div %exp, %sb : tensor<2x3x5xf32>
  %r = mtc.reshape %p : tensor<2x3x5xf32> -> tensor<2x15xf32>
  %y = mtc.contract %r, %v batch [] x [] over [1] x [0] : tensor<2x15xf32>, tensor<15x4xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
