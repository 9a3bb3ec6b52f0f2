// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @lstm
func.func @lstm(%x: tensor<5x2x12xf32>, %r: tensor<12x3xf32>, %h0: tensor<2x3xf32>, %c0: tensor<2x3xf32>, %d: tensor<5x2x3xf32>)
    -> (tensor<5x2x12xf32>, tensor<5x2x12xf32>) {
  // CHECK: %[[A:.*]], %[[H:.*]], %[[C:.*]] = mtc.recurrence lstm %{{.*}}, %{{.*}} from %{{.*}} cell %{{.*}} : (
  %a, %h, %c = mtc.recurrence lstm %x, %r from %h0 cell %c0
    : (tensor<5x2x12xf32>, tensor<12x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
      -> (tensor<5x2x12xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>)
  // CHECK: mtc.recurrence_gradient lstm %[[A]], %{{.*}} of %[[H]] auxiliary %[[C]] from %{{.*}} cell %{{.*}} at %{{.*}} : tensor{{.*}} -> tensor<5x2x12xf32>, tensor<2x3xf32> cell tensor<2x3xf32>
  %dx, %dh, %dc = mtc.recurrence_gradient lstm %a, %r of %h auxiliary %c from %h0 cell %c0 at %d
    : tensor<5x2x12xf32>, tensor<12x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
      tensor<5x2x3xf32> -> tensor<5x2x12xf32>, tensor<2x3xf32> cell tensor<2x3xf32>
  // CHECK: mtc.recurrence_gradient lstm {{.*}} at %{{.*}}, %{{.*}} reversed : tensor
  %ex, %eh, %ec = mtc.recurrence_gradient lstm %a, %r of %h auxiliary %c from %h0 cell %c0 at %d, %d reversed
    : tensor<5x2x12xf32>, tensor<12x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
      tensor<5x2x3xf32>, tensor<5x2x3xf32> -> tensor<5x2x12xf32>, tensor<2x3xf32> cell tensor<2x3xf32>
  return %dx, %ex : tensor<5x2x12xf32>, tensor<5x2x12xf32>
}

// CHECK-LABEL: func.func @gru
func.func @gru(%x: tensor<5x2x9xf32>, %r: tensor<9x3xf32>, %h0: tensor<2x3xf32>, %b: tensor<3xf32>)
    -> (tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>) {
  // CHECK: mtc.recurrence gru %{{.*}}, %{{.*}} from %{{.*}} reversed : (
  %a, %h, %m = mtc.recurrence gru %x, %r from %h0 reversed
    : (tensor<5x2x9xf32>, tensor<9x3xf32>, tensor<2x3xf32>) -> (tensor<5x2x9xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>)
  // CHECK: mtc.recurrence gru_reset_after %{{.*}}, %{{.*}} from %{{.*}} bias %{{.*}} : (
  %e, %i, %q = mtc.recurrence gru_reset_after %x, %r from %h0 bias %b
    : (tensor<5x2x9xf32>, tensor<9x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
      -> (tensor<5x2x9xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>)
  // CHECK: mtc.recurrence_gradient gru_reset_after {{.*}} -> tensor<5x2x9xf32>, tensor<2x3xf32> candidate tensor<5x2x3xf32>
  %dx, %dh, %dq = mtc.recurrence_gradient gru_reset_after %e, %r of %i auxiliary %q from %h0 at %i
    : tensor<5x2x9xf32>, tensor<9x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<5x2x3xf32>
      -> tensor<5x2x9xf32>, tensor<2x3xf32> candidate tensor<5x2x3xf32>
  return %h, %i, %dq : tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @rnn
func.func @rnn(%x: tensor<5x2x3xf64>, %r: tensor<3x3xf64>, %h0: tensor<2x3xf64>) -> (tensor<5x2x3xf64>, tensor<5x2x3xf64>) {
  // CHECK: mtc.recurrence tanh
  %a, %h = mtc.recurrence tanh %x, %r from %h0
    : (tensor<5x2x3xf64>, tensor<3x3xf64>, tensor<2x3xf64>) -> (tensor<5x2x3xf64>, tensor<5x2x3xf64>)
  // CHECK: mtc.recurrence relu
  %e, %i = mtc.recurrence relu %x, %r from %h0
    : (tensor<5x2x3xf64>, tensor<3x3xf64>, tensor<2x3xf64>) -> (tensor<5x2x3xf64>, tensor<5x2x3xf64>)
  return %h, %i : tensor<5x2x3xf64>, tensor<5x2x3xf64>
}
