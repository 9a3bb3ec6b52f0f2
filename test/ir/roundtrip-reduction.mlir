// Every operation of ReductionOps.td in the form of the example in its record.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> (tensor<4xf32>, tensor<f32>, tensor<8xi1>) {
  // CHECK: mtc.reduce add %{{.*}} axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %s = mtc.reduce add %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: mtc.reduce max %{{.*}} axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %t = mtc.reduce max %x axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
  // CHECK: mtc.reduce or %{{.*}} axes [0] : tensor<4x8xi1> -> tensor<8xi1>
  %u = mtc.reduce or %m axes [0] : tensor<4x8xi1> -> tensor<8xi1>
  return %s, %t, %u : tensor<4xf32>, tensor<f32>, tensor<8xi1>
}

// CHECK-LABEL: func.func @contract
func.func @contract(%a: tensor<4x8x16xf32>, %b: tensor<4x16x32xf32>, %v: tensor<3xf32>)
    -> (tensor<4x8x32xf32>, tensor<3x3xf32>) {
  // CHECK: mtc.contract %{{.*}}, %{{.*}} batch [0] x [0] over [2] x [1] : tensor<4x8x16xf32>, tensor<4x16x32xf32> -> tensor<4x8x32xf32>
  %y = mtc.contract %a, %b batch [0] x [0] over [2] x [1]
         : tensor<4x8x16xf32>, tensor<4x16x32xf32> -> tensor<4x8x32xf32>
  // CHECK: mtc.contract %{{.*}}, %{{.*}} batch [] x [] over [] x [] : tensor<3xf32>, tensor<3xf32> -> tensor<3x3xf32>
  %o = mtc.contract %v, %v batch [] x [] over [] x [] : tensor<3xf32>, tensor<3xf32> -> tensor<3x3xf32>
  return %y, %o : tensor<4x8x32xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @fused_contract_adding
func.func @fused_contract_adding(%a: tensor<4x8x16xf32>, %b: tensor<4x16x32xf32>, %y: tensor<4x8x32xf32>, %r: tensor<4x8x32xf32>)
    -> tensor<4x8x32xf32> {
  // CHECK: mtc.fused_contract %{{.*}}, %{{.*}} batch [0] x [0] over [2] x [1] adding %{{.*}}, %{{.*}} : tensor<4x8x32xf32>, tensor<4x8x32xf32> : tensor<4x8x16xf32>, tensor<4x16x32xf32> -> tensor<4x8x32xf32>
  %z = mtc.fused_contract %a, %b batch [0] x [0] over [2] x [1] adding %y, %r : tensor<4x8x32xf32>, tensor<4x8x32xf32>
         : tensor<4x8x16xf32>, tensor<4x16x32xf32> -> tensor<4x8x32xf32>
  return %z : tensor<4x8x32xf32>
}

// CHECK-LABEL: func.func @fused_contract
func.func @fused_contract(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %c: tensor<4x16xf32>, %u: tensor<4x2xf32>, %v: tensor<2x16xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<16xf32>) {
  // CHECK: mtc.fused_contract %{{.*}}, %{{.*}} batch [] x [] over [1] x [0] adding %{{.*}} : tensor<4x16xf32> then {{ *}}relu : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>{{$}}
  %r = mtc.fused_contract %x, %w batch [] x [] over [1] x [0] adding %c : tensor<4x16xf32> then relu
         : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  // CHECK: mtc.fused_contract %{{.*}}, %{{.*}} batch [] x [] over [1] x [0] then {{ *}}gelu : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<4x16xf32>
  %y, %z = mtc.fused_contract %x, %w batch [] x [] over [1] x [0] then gelu
             : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<4x16xf32>
  // CHECK: mtc.fused_contract %{{.*}}, %{{.*}} batch [] x [] over [1] x [0] then {{ *}}gelu_gradient at %{{.*}} : tensor<4x16xf32> summing {{ *}}result : tensor<4x2xf32>, tensor<2x16xf32> -> tensor<4x16xf32> sums tensor<16xf32>
  %d, %s = mtc.fused_contract %u, %v batch [] x [] over [1] x [0] then gelu_gradient at %z : tensor<4x16xf32> summing result
             : tensor<4x2xf32>, tensor<2x16xf32> -> tensor<4x16xf32> sums tensor<16xf32>
  // CHECK: mtc.fused_contract %{{.*}}, %{{.*}} batch [] x [] over [0] x [0] summing {{ *}}lhs : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32> sums tensor<16xf32>
  %g, %t = mtc.fused_contract %d, %x batch [] x [] over [0] x [0] summing lhs
             : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32> sums tensor<16xf32>
  return %r, %y, %s, %g, %t : tensor<4x16xf32>, tensor<4x16xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<16xf32>
}

// CHECK-LABEL: func.func @cumulative_sum
func.func @cumulative_sum(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: mtc.cumulative_sum %{{.*}} axis 1 exclusive : tensor<4x8xf32>
  %s = mtc.cumulative_sum %x axis 1 exclusive : tensor<4x8xf32>
  // CHECK: mtc.cumulative_sum %{{.*}} axis 0 reverse : tensor<4x8xf32>
  %r = mtc.cumulative_sum %x axis 0 reverse : tensor<4x8xf32>
  return %s, %r : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x1xi64>) {
  // CHECK: mtc.top_k %{{.*}} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  %v, %i = mtc.top_k %x : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  // CHECK: mtc.top_k %{{.*}} smallest : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<4x1xi64>
  %w, %j = mtc.top_k %x smallest : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<4x1xi64>
  return %v, %j : tensor<4x3xf32>, tensor<4x1xi64>
}

// CHECK-LABEL: func.func @random_bits
func.func @random_bits(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<4x8xi32> {
  // CHECK: mtc.random_bits %{{.*}}, %{{.*}} stream 3 : (tensor<i64>, tensor<i64>) -> tensor<4x8xi32>
  %r = mtc.random_bits %seed, %step stream 3 : (tensor<i64>, tensor<i64>) -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @add_rows
func.func @add_rows(%rows: tensor<512x64xf32>, %sum: tensor<8x8xf32>, %mean: tensor<4xf32>)
    -> (tensor<8x8xf32>, tensor<4xf32>, tensor<64xf32>) {
  // CHECK: mtc.add_rows %{{.*}} onto %{{.*}} : tensor<8x8xf32> : tensor<512x64xf32> -> tensor<8x8xf32>
  %s = mtc.add_rows %rows onto %sum : tensor<8x8xf32> : tensor<512x64xf32> -> tensor<8x8xf32>
  // CHECK: mtc.add_rows %{{.*}} from 60 onto %{{.*}} : tensor<4xf32> decay 5.000000e-01 : f32 : tensor<512x64xf32> -> tensor<4xf32>
  %t = mtc.add_rows %rows from 60 onto %mean : tensor<4xf32> decay 5.000000e-01 : f32 : tensor<512x64xf32> -> tensor<4xf32>
  // CHECK: mtc.add_rows %{{.*}} : tensor<512x64xf32> -> tensor<64xf32>
  %u = mtc.add_rows %rows : tensor<512x64xf32> -> tensor<64xf32>
  return %s, %t, %u : tensor<8x8xf32>, tensor<4xf32>, tensor<64xf32>
}
