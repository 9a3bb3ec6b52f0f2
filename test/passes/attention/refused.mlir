// Patterns that resemble attention and stay decomposed, with the reason.
// RUN: mtc-opt %s -pass-pipeline='builtin.module(func.func(mtc-recognize-attention))' --remarks-filter=mtc-recognize-attention \
// RUN:   --remark-policy=all 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// REMARK: remark: [Missed] in-parts | Category:mtc-recognize-attention {{.*}}its scores pass through mtc.tanh
// CHECK-NOT: mtc.attention %

// CHECK-LABEL: func.func @soft_cap(
// CHECK-SAME: decomposed = ["its scores pass through mtc.tanh"]
func.func @soft_cap(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %x = mtc.tanh %s : tensor<2x4x3x3xf32>
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

// CHECK-LABEL: func.func @learned_scale(
// CHECK-SAME: decomposed = ["its scores are multiplied by a value that is not constant"]
func.func @learned_scale(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %g: tensor<2x4x3x3xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %x = mtc.mul %s, %g : tensor<2x4x3x3xf32>
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

// CHECK-LABEL: func.func @weights_needed(
// CHECK-SAME: decomposed = ["its weights have other users"]
func.func @weights_needed(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>) {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y, %p : tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>
}

mtc.variable parameter @table : tensor<3x3xf32> = #mtc.zeros

// CHECK-LABEL: func.func @trained_bias(
// CHECK-SAME: decomposed = ["its bias depends on the parameter 'table'"]
func.func @trained_bias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %t = mtc.read @table : tensor<3x3xf32>
  %b = mtc.broadcast %t axes [0, 1] : tensor<3x3xf32> -> tensor<2x4x3x3xf32>
  %x = mtc.add %s, %b : tensor<2x4x3x3xf32>
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

// CHECK-LABEL: func.func @finite_mask(
// CHECK-SAME: decomposed = ["a masked score is -1.000000e+38, so fully masked rows would not give zeros"]
func.func @finite_mask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x4x3x3xi1>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %n = mtc.constant dense<-1.0e+38> : tensor<2x4x3x3xf32>
  %x = mtc.select %m, %s, %n : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
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

// CHECK-LABEL: func.func @dropout(
// CHECK-SAME: decomposed = ["dropout is between its weights and the values"]
func.func @dropout(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %seed: tensor<i64>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %bits = mtc.random_bits %seed, %seed stream 0 : (tensor<i64>, tensor<i64>) -> tensor<2x4x3x3xi32>
  %lim = mtc.constant dense<7> : tensor<2x4x3x3xi32>
  %keep = mtc.compare gt %bits, %lim : tensor<2x4x3x3xi32> -> tensor<2x4x3x3xi1>
  %zeros = mtc.constant dense<0.0> : tensor<2x4x3x3xf32>
  %t = mtc.select %keep, %p, %zeros : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %y = mtc.contract %t, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @dropout_in_training(
// CHECK-SAME: decomposed = ["dropout is between its weights and the values"]
func.func @dropout_in_training(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %seed: tensor<i64>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %bits = mtc.random_bits %seed, %seed stream 0 : (tensor<i64>, tensor<i64>) -> tensor<2x4x3x3xi32>
  %lim = mtc.constant dense<7> : tensor<2x4x3x3xi32>
  %keep = mtc.compare gt %bits, %lim : tensor<2x4x3x3xi32> -> tensor<2x4x3x3xi1>
  %zeros = mtc.constant dense<0.0> : tensor<2x4x3x3xf32>
  %t = mtc.select %keep, %p, %zeros : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %d = mtc.select_by_mode training %t inference %p : tensor<2x4x3x3xf32>
  %y = mtc.contract %d, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: decomposed = ["its weights pass through mtc.sin"]
func.func @cast(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %t = mtc.sin %p : tensor<2x4x3x3xf32>
  %y = mtc.contract %t, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: decomposed = ["its elements are neither f32 nor f64"]
func.func @narrow(%q: tensor<2x4x3x8xbf16>, %k: tensor<2x4x3x8xbf16>, %v: tensor<2x4x3x8xbf16>) -> tensor<2x4x3x8xbf16> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xbf16>, tensor<2x4x3x8xbf16> -> tensor<2x4x3x3xbf16>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xbf16> -> tensor<2x4x3xbf16>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xbf16> -> tensor<2x4x3x3xbf16>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xbf16>
  %exp = mtc.exp %sub : tensor<2x4x3x3xbf16>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xbf16> -> tensor<2x4x3xbf16>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xbf16> -> tensor<2x4x3x3xbf16>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xbf16>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x3x3xbf16>, tensor<2x4x3x8xbf16> -> tensor<2x4x3x8xbf16>
  return %y : tensor<2x4x3x8xbf16>
}

// CHECK-LABEL: func.func @other_rows(
// CHECK-SAME: decomposed = ["its weights are not the left operand of the second matrix multiplication"]
func.func @other_rows(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x3xf32>
  %max = mtc.reduce max %s axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %mb = mtc.broadcast %max axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %sub = mtc.sub %s, %mb : tensor<2x4x3x3xf32>
  %exp = mtc.exp %sub : tensor<2x4x3x3xf32>
  %sum = mtc.reduce add %exp axes [3] : tensor<2x4x3x3xf32> -> tensor<2x4x3xf32>
  %sb = mtc.broadcast %sum axes [3] : tensor<2x4x3xf32> -> tensor<2x4x3x3xf32>
  %p = mtc.div %exp, %sb : tensor<2x4x3x3xf32>
  %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [2] x [2] : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32> -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// A softmax follows a contraction, but no contraction follows the softmax. This is not attention, and there is no remark.
// CHECK-LABEL: func.func @classes(
// CHECK-NOT: attributes
// CHECK: return
func.func @classes(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %s = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %max = mtc.reduce max %s axes [1] : tensor<4x3xf32> -> tensor<4xf32>
  %mb = mtc.broadcast %max axes [1] : tensor<4xf32> -> tensor<4x3xf32>
  %sub = mtc.sub %s, %mb : tensor<4x3xf32>
  %exp = mtc.exp %sub : tensor<4x3xf32>
  %sum = mtc.reduce add %exp axes [1] : tensor<4x3xf32> -> tensor<4xf32>
  %sb = mtc.broadcast %sum axes [1] : tensor<4xf32> -> tensor<4x3xf32>
  %p = mtc.div %exp, %sb : tensor<4x3xf32>
  return %p : tensor<4x3xf32>
}
