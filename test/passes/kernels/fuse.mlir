// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline)' -mlir-print-local-scope | FileCheck %s

// A chain becomes one kernel; a broadcast becomes an index.
// CHECK-LABEL: func.func @chain(
// CHECK: mtc.kernel [4, 8]
// CHECK-DAG: mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32>
// CHECK-DAG: mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (d1)> : tensor<8xf32>
// CHECK: math.tanh
// CHECK-NOT: mtc.kernel [
// CHECK: return
func.func @chain(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %s = mtc.broadcast %b axes [0] : tensor<8xf32> -> tensor<4x8xf32>
  %a = mtc.add %x, %s : tensor<4x8xf32>
  %y = mtc.tanh %a : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// load(transpose(f(x)))[i, j] => f(load(x)[j, i]), also through a view.
// CHECK-LABEL: func.func @through_view(
// CHECK-NOT: mtc.reshape
// CHECK: mtc.kernel [8, 4]
// CHECK: mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (0, d1, d0)> : tensor<1x4x8xf32>
// CHECK: math.exp
// CHECK-NOT: mtc.kernel [
func.func @through_view(%x: tensor<1x4x8xf32>) -> tensor<8x4xf32> {
  %e = mtc.exp %x : tensor<1x4x8xf32>
  %v = mtc.reshape %e : tensor<1x4x8xf32> -> tensor<4x8xf32>
  %t = mtc.transpose %v [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}

// A reduction is fused with its operand.
// CHECK-LABEL: func.func @reduction(
// CHECK: mtc.kernel [4, 8] reduce [1]
// CHECK: arith.mulf
// CHECK: mtc.kernel.reduce  add
// CHECK-NOT: mtc.kernel [
func.func @reduction(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %q = mtc.mul %x, %x : tensor<4x8xf32>
  %s = mtc.reduce add %q axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// A result that two kernels with the same iteration space need is computed by one of them, which returns it too.
// CHECK-LABEL: func.func @joined(
// CHECK: %[[R:.*]]:2 = mtc.kernel [8](%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @joined(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = mtc.exp %x : tensor<8xf32>
  %y = mtc.sin %e : tensor<8xf32>
  return %e, %y : tensor<8xf32>, tensor<8xf32>
}

// A value that does not depend on a reduced dim is still computed once per row.
// CHECK-LABEL: func.func @computed_once(
// CHECK: mtc.kernel [4, 8] reduce [1]
// CHECK: %[[R:.*]] = mtc.kernel.load %{{.*}} at affine_map<(d0, d1) -> (d0)>
// CHECK: math.exp %[[R]]
// CHECK-NOT: math.exp
// CHECK: return
func.func @computed_once(%x: tensor<4x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  %e = mtc.exp %r : tensor<4xf32>
  %b = mtc.broadcast %e axes [1] : tensor<4xf32> -> tensor<4x8xf32>
  %y = mtc.mul %x, %b : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// If a guard is false, the index in the producer may be out of bounds, so the producer's load gets the guard.
// CHECK-LABEL: func.func @guarded(
// CHECK: mtc.kernel [10]
// CHECK: mtc.kernel.load %{{.*}} if %{{.*}} else
// CHECK: math.exp
// CHECK: arith.select
// CHECK-NOT: mtc.kernel [
func.func @guarded(%x: tensor<8xf32>) -> tensor<10xf32> {
  %e = mtc.exp %x : tensor<8xf32>
  %p = mtc.pad %e low [1] high [1] interior [0] value 0.0 : f32 : tensor<8xf32> -> tensor<10xf32>
  return %p : tensor<10xf32>
}

// Scalars are fused even if their rank differs from that of their iteration space.
// CHECK-LABEL: func.func @scalars(
// CHECK: mtc.kernel [1]
// CHECK: math.exp
// CHECK: math.sin
// CHECK-NOT: mtc.kernel [
func.func @scalars(%x: tensor<f32>) -> tensor<f32> {
  %e = mtc.exp %x : tensor<f32>
  %y = mtc.sin %e : tensor<f32>
  return %y : tensor<f32>
}

// A sum of squares loads its operand once, so that the operand can be fused, even with few rows.
// CHECK-LABEL: func.func @squares(
// CHECK: mtc.kernel [2, 65536] reduce [0, 1]
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK-NOT: mtc.kernel [
// CHECK: return
func.func @squares(%x: tensor<2x65536xf32>) -> tensor<f32> {
  %e = mtc.exp %x : tensor<2x65536xf32>
  %q = mtc.mul %e, %e : tensor<2x65536xf32>
  %s = mtc.reduce add %q axes [0, 1] : tensor<2x65536xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// Summands are fused, but the initial tensor must be stored.
// CHECK-LABEL: func.func @onto(
// CHECK: mtc.kernel [36]
// CHECK: math.absf
// CHECK: %[[V:.*]] = mtc.reshape
// CHECK-NOT: mtc.kernel [
// CHECK: mtc.kernel [3, 4] reduce [0]({{.*}}%[[V]]{{.*}})
// CHECK: math.exp
// CHECK: mtc.kernel.yield {{.*}} onto %{{.*}} : tensor<9x4xf32> : f32
func.func @onto(%u: tensor<3x4xf32>, %i: tensor<3xi64>, %x: tensor<36xf32>) -> tensor<9x4xf32> {
  %n = mtc.abs %x : tensor<36xf32>
  %v = mtc.reshape %n : tensor<36xf32> -> tensor<9x4xf32>
  %e = mtc.exp %u : tensor<3x4xf32>
  %y = mtc.scatter_add %e, %i axis 0 batch 0 onto %v : tensor<9x4xf32> : tensor<3x4xf32>, tensor<3xi64> -> tensor<9x4xf32>
  return %y : tensor<9x4xf32>
}

// A small operand has overlapping windows with a large result. It is fused and never stored, although 2 of its 9 elements are read twice.
// CHECK-LABEL: func.func @spread(
// CHECK: mtc.kernel [2, 112, 112, 8, 2, 2] reduce [4, 5](%{{.*}}, %{{.*}}) : (tensor<2x56x56x8xf32>, tensor<2x56x56x8xi8>) -> tensor<2x112x112x8xf32>
// CHECK-NOT: mtc.kernel [
// CHECK: return
func.func @spread(%tap: tensor<2x56x56x8xi8>, %dy: tensor<2x56x56x8xf32>) -> tensor<2x112x112x8xf32> {
  %t = mtc.broadcast %tap axes [4, 5] : tensor<2x56x56x8xi8> -> tensor<2x56x56x8x3x3xi8>
  %d = mtc.broadcast %dy axes [4, 5] : tensor<2x56x56x8xf32> -> tensor<2x56x56x8x3x3xf32>
  %n = mtc.iota 5 : tensor<2x56x56x8x3x3xi8>
  %is = mtc.compare eq %t, %n : tensor<2x56x56x8x3x3xi8> -> tensor<2x56x56x8x3x3xi1>
  %zero = mtc.constant dense<0.0> : tensor<2x56x56x8x3x3xf32>
  %s = mtc.select %is, %d, %zero : tensor<2x56x56x8x3x3xi1>, tensor<2x56x56x8x3x3xf32>
  %dx = mtc.overlap_add %s axes [1, 2] offsets [1, 1] strides [2, 2] dilations [1, 1]
          : tensor<2x56x56x8x3x3xf32> -> tensor<2x112x112x8xf32>
  return %dx : tensor<2x112x112x8xf32>
}

// Expensive operations are not duplicated.
// CHECK-LABEL: func.func @spread_slow(
// CHECK: math.exp
// CHECK: mtc.kernel.yield %{{.*}} : f32
// CHECK: mtc.kernel [2, 112, 112, 8, 2, 2]
// CHECK-NOT: math.exp
// CHECK: return
func.func @spread_slow(%dy: tensor<2x56x56x8xf32>, %w: tensor<3x3xf32>) -> tensor<2x112x112x8xf32> {
  %d = mtc.broadcast %dy axes [4, 5] : tensor<2x56x56x8xf32> -> tensor<2x56x56x8x3x3xf32>
  %v = mtc.broadcast %w axes [0, 1, 2, 3] : tensor<3x3xf32> -> tensor<2x56x56x8x3x3xf32>
  %p = mtc.mul %d, %v : tensor<2x56x56x8x3x3xf32>
  %e = mtc.exp %p : tensor<2x56x56x8x3x3xf32>
  %dx = mtc.overlap_add %e axes [1, 2] offsets [1, 1] strides [2, 2] dilations [1, 1]
          : tensor<2x56x56x8x3x3xf32> -> tensor<2x112x112x8xf32>
  return %dx : tensor<2x112x112x8xf32>
}
