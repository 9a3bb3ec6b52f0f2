// RUN: mtc-opt %s --split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline)' -mlir-print-local-scope | FileCheck %s

// A softmax has two reductions of a row and their users.
// CHECK-LABEL: func.func @softmax(
// CHECK: mtc.kernel [32, 64] reduce [1](%{{.*}}) : (tensor<32x64xf32>) -> tensor<32x64xf32>
// CHECK: mtc.kernel.reduce max
// CHECK: math.exp
// CHECK: mtc.kernel.reduce add
// CHECK: arith.divf
// CHECK-NOT: mtc.kernel [
func.func @softmax(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %m = mtc.reduce max %x axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %mb = mtc.broadcast %m axes [1] : tensor<32xf32> -> tensor<32x64xf32>
  %c = mtc.sub %x, %mb : tensor<32x64xf32>
  %e = mtc.exp %c : tensor<32x64xf32>
  %s = mtc.reduce add %e axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %sb = mtc.broadcast %s axes [1] : tensor<32xf32> -> tensor<32x64xf32>
  %y = mtc.div %e, %sb : tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}

// -----

// A sum and the normalization after it have different shapes, so dims are split at the boundaries of both. The sum and values of a row are
// also results.
// CHECK-LABEL: func.func @residual_norm(
// CHECK: %[[K:.*]]:3 = mtc.kernel [4, 8, 64] reduce [2]
// CHECK-SAME: (tensor<4x8x64xf32>, tensor<4x8xf32>, tensor<32x64xf32>)
// CHECK: mtc.kernel.load %{{.*}} at affine_map<(d0, d1, d2) -> (d0 * 8 + d1, d2)> : tensor<32x64xf32>
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.load %{{.*}} at affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<8x64xf32>
// CHECK: mtc.kernel.yield {{.*}} at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0 * 8 + d1, d2)>]
// CHECK-NOT: mtc.kernel [
// CHECK: return %[[K]]#0, %[[K]]#1, %[[K]]#2
func.func @residual_norm(%a: tensor<32x64xf32>, %b: tensor<32x64xf32>, %w: tensor<8x64xf32>) -> (tensor<4x8x64xf32>, tensor<4x8xf32>, tensor<32x64xf32>) {
  %h = mtc.add %a, %b : tensor<32x64xf32>
  %v = mtc.reshape %h : tensor<32x64xf32> -> tensor<4x8x64xf32>
  %m = mtc.reduce add %v axes [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
  %mb = mtc.broadcast %m axes [2] : tensor<4x8xf32> -> tensor<4x8x64xf32>
  %c = mtc.sub %v, %mb : tensor<4x8x64xf32>
  %q = mtc.mul %c, %c : tensor<4x8x64xf32>
  %s = mtc.reduce add %q axes [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
  %d = mtc.sqrt %s : tensor<4x8xf32>
  %db = mtc.broadcast %d axes [2] : tensor<4x8xf32> -> tensor<4x8x64xf32>
  %n = mtc.div %c, %db : tensor<4x8x64xf32>
  %wb = mtc.broadcast %w axes [0] : tensor<8x64xf32> -> tensor<4x8x64xf32>
  %y = mtc.mul %n, %wb : tensor<4x8x64xf32>
  return %y, %d, %h : tensor<4x8x64xf32>, tensor<4x8xf32>, tensor<32x64xf32>
}

// -----

// The kernels read the same rows, but not each other's results.
// CHECK-LABEL: func.func @siblings(
// CHECK: mtc.kernel [32, 64] reduce [1](%{{.*}}) : (tensor<32x64xf32>) -> (tensor<32xf32>, tensor<32xf32>)
// CHECK-NOT: mtc.kernel [
func.func @siblings(%x: tensor<32x64xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %m = mtc.reduce max %x axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %q = mtc.mul %x, %x : tensor<32x64xf32>
  %s = mtc.reduce add %q axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  return %m, %s : tensor<32xf32>, tensor<32xf32>
}

// -----

// Column sums are joined.
// CHECK-LABEL: func.func @columns(
// CHECK: mtc.kernel [32, 64] reduce [0]
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.reduce add
// CHECK-NOT: mtc.kernel [
func.func @columns(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %p = mtc.mul %x, %y : tensor<32x64xf32>
  %s = mtc.reduce add %x axes [0] : tensor<32x64xf32> -> tensor<64xf32>
  %t = mtc.reduce add %p axes [0] : tensor<32x64xf32> -> tensor<64xf32>
  return %s, %t : tensor<64xf32>, tensor<64xf32>
}

// -----

// Both users, which have different dims, compute a cheap result, but not an exponential.
// CHECK-LABEL: func.func @computed_twice(
// CHECK: mtc.kernel [32, 64] reduce [1]
// CHECK-SAME: -> tensor<32xf32>
// CHECK: arith.subf
// CHECK: mtc.kernel [32, 64] reduce [0]
// CHECK: arith.subf
// CHECK-LABEL: func.func @computed_once(
// CHECK: mtc.kernel [32, 64] reduce [1]
// CHECK-SAME: -> (tensor<32xf32>, tensor<32x64xf32>)
// CHECK: mtc.kernel [32, 64] reduce [0]
// CHECK-NOT: math.exp
// CHECK: return
func.func @computed_twice(%x: tensor<32x64xf32>, %m: tensor<64xf32>) -> (tensor<32xf32>, tensor<64xf32>) {
  %b = mtc.broadcast %m axes [0] : tensor<64xf32> -> tensor<32x64xf32>
  %c = mtc.sub %x, %b : tensor<32x64xf32>
  %s = mtc.reduce add %c axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %t = mtc.reduce max %c axes [0] : tensor<32x64xf32> -> tensor<64xf32>
  return %s, %t : tensor<32xf32>, tensor<64xf32>
}
func.func @computed_once(%x: tensor<32x64xf32>) -> (tensor<32xf32>, tensor<64xf32>) {
  %c = mtc.exp %x : tensor<32x64xf32>
  %s = mtc.reduce add %c axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %t = mtc.reduce max %c axes [0] : tensor<32x64xf32> -> tensor<64xf32>
  return %s, %t : tensor<32xf32>, tensor<64xf32>
}

// -----

// A large result is not computed earlier, across a library call, to save one read, but a sum is.
// CHECK-LABEL: func.func @across_a_call(
// CHECK: mtc.kernel [32, 64](
// CHECK: mtc.contract
// CHECK: mtc.kernel [32, 64](
// CHECK-LABEL: func.func @sum_across_a_call(
// CHECK: mtc.kernel [32, 64] reduce [1]
// CHECK-SAME: -> (tensor<32xf32>, tensor<32x64xf32>)
// CHECK: mtc.contract
// CHECK-NOT: mtc.kernel [
func.func @across_a_call(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %e = mtc.exp %x : tensor<32x64xf32>
  %z = mtc.contract %e, %w batch [] x [] over [1] x [0] : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  %y = mtc.sin %e : tensor<32x64xf32>
  return %z, %y : tensor<32x64xf32>, tensor<32x64xf32>
}
func.func @sum_across_a_call(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> (tensor<32x64xf32>, tensor<32xf32>) {
  %e = mtc.exp %x : tensor<32x64xf32>
  %z = mtc.contract %e, %w batch [] x [] over [1] x [0] : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  %y = mtc.reduce add %e axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  return %z, %y : tensor<32x64xf32>, tensor<32xf32>
}

// -----

// A transfer between ranks does not separate kernels, so that the order of summation of a row does not depend on the position of transfers.
// CHECK-LABEL: func.func @across_a_gather(
// CHECK: mtc.all_gather
// CHECK: mtc.kernel [32, 64] reduce [1]
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.yield {{.*}} : f32, f32
// CHECK-NOT: mtc.kernel [
func.func @across_a_gather(%x: tensor<32x64xf32>, %own: tensor<256xf32>) -> (tensor<32x64xf32>, tensor<32xf32>) {
  %s = mtc.reduce add %x axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %w = mtc.all_gather %own ranks 2 : tensor<256xf32> -> tensor<64xf32>
  %sb = mtc.broadcast %s axes [1] : tensor<32xf32> -> tensor<32x64xf32>
  %wb = mtc.broadcast %w axes [0] : tensor<64xf32> -> tensor<32x64xf32>
  %n = mtc.div %x, %sb : tensor<32x64xf32>
  %y = mtc.mul %n, %wb : tensor<32x64xf32>
  return %y, %s : tensor<32x64xf32>, tensor<32xf32>
}

// -----

// Three reductions of three rows would leave most threads idle.
// CHECK-LABEL: func.func @few_rows(
// CHECK: mtc.kernel [3, 65536](
// CHECK: mtc.kernel [3, 65536] reduce [1]
func.func @few_rows(%x: tensor<3x65536xf32>) -> (tensor<3x65536xf32>, tensor<3xf32>) {
  %e = mtc.exp %x : tensor<3x65536xf32>
  %s = mtc.reduce add %e axes [1] : tensor<3x65536xf32> -> tensor<3xf32>
  return %e, %s : tensor<3x65536xf32>, tensor<3xf32>
}

// Two kernels without reductions are not joined: each iteration of the larger one may have its own thread.
// CHECK-LABEL: func.func @points(
// CHECK-DAG: mtc.kernel [64](
// CHECK-DAG: mtc.kernel [64, 3136](
// CHECK: return
mtc.variable state @mean : tensor<64xf32> = #mtc.zeros
func.func @points(%x: tensor<64x3136xf32>, %m: tensor<64xf32>) -> (tensor<64x3136xf32>, tensor<64xf32>) {
  %b = mtc.broadcast %m axes [1] : tensor<64xf32> -> tensor<64x3136xf32>
  %c = mtc.sub %x, %b : tensor<64x3136xf32>
  %v = mtc.read @mean : tensor<64xf32>
  %q = mtc.add %v, %m : tensor<64xf32>
  return %c, %q : tensor<64x3136xf32>, tensor<64xf32>
}

// -----

// In the head of a model, small values are computed first, and the scores of the labels are looked up separately. Maximum, sum and gradient
// then are one kernel, which may overwrite the scores.
// CHECK-LABEL: func.func @loss_head(
// CHECK: mtc.contract
// CHECK: mtc.kernel [256](%{{.*}}, %{{.*}}) : (tensor<256x4096xf32>, tensor<256xi64>) -> tensor<256xf32>
// CHECK: mtc.kernel [256, 4096] reduce [1]
// CHECK-SAME: -> (tensor<256x4096xf32>, tensor<256xf32>, tensor<256xf32>)
// CHECK: mtc.kernel.reduce max
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel [256] reduce [0]
// CHECK-NOT: mtc.kernel [
func.func @loss_head(%x: tensor<256x64xf32>, %w: tensor<64x4096xf32>, %labels: tensor<256xi64>) -> (tensor<f32>, tensor<256x4096xf32>) {
  %z = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<256x64xf32>, tensor<64x4096xf32> -> tensor<256x4096xf32>
  %m = mtc.reduce max %z axes [1] : tensor<256x4096xf32> -> tensor<256xf32>
  %mb = mtc.broadcast %m axes [1] : tensor<256xf32> -> tensor<256x4096xf32>
  %c = mtc.sub %z, %mb : tensor<256x4096xf32>
  %e = mtc.exp %c : tensor<256x4096xf32>
  %s = mtc.reduce add %e axes [1] : tensor<256x4096xf32> -> tensor<256xf32>
  %at = mtc.gather %z, %labels axis 1 batch 1 : tensor<256x4096xf32>, tensor<256xi64> -> tensor<256xf32>
  %ln = mtc.log %s : tensor<256xf32>
  %n = mtc.add %ln, %m : tensor<256xf32>
  %row = mtc.sub %n, %at : tensor<256xf32>
  %l = mtc.reduce add %row axes [0] : tensor<256xf32> -> tensor<f32>
  %sb = mtc.broadcast %s axes [1] : tensor<256xf32> -> tensor<256x4096xf32>
  %g = mtc.div %e, %sb : tensor<256x4096xf32>
  return %l, %g : tensor<f32>, tensor<256x4096xf32>
}

// -----

// The gradient of a later stage arrives only after the stage has sent what the other kernel computes, although both kernels read the same rows.
// CHECK-LABEL: func.func @gradient_after_send(
// CHECK: %[[Y:.*]] = mtc.kernel [32, 64](
// CHECK: mtc.write @out, %[[Y]]
// CHECK: mtc.kernel [32, 64](
// CHECK: mtc.write @in.grad
mtc.variable slot @in copies 2 : tensor<32x64xf32> = #mtc.zeros
mtc.variable slot @in.grad copies 2 : tensor<32x64xf32> = #mtc.zeros
mtc.variable slot @out copies 2 : tensor<32x64xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 2 : tensor<32x64xf32> = #mtc.zeros
mtc.message channel 0 [@in] stage 0
mtc.message sent channel 1 [@out] stage 2
mtc.message backward channel 2 [@out.grad] stage 2
mtc.message sent backward channel 3 [@in.grad] stage 0
func.func @gradient_after_send() {
  %x = mtc.read @in : tensor<32x64xf32>
  %g = mtc.read @out.grad : tensor<32x64xf32>
  %y = mtc.tanh %x : tensor<32x64xf32>
  mtc.write @out, %y : tensor<32x64xf32>
  %m = mtc.mul %x, %g : tensor<32x64xf32>
  mtc.write @in.grad, %m : tensor<32x64xf32>
  return
}
