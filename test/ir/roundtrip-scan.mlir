// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK: func.func private @cell({{.*}}) -> (tensor<4xf32>, tensor<4xf32>) attributes {mtc.body = array<i64: 1, 1>} {
func.func private @cell(%h: tensor<4xf32>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {mtc.body = array<i64: 1, 1>} {
  %y = mtc.mul %h, %w : tensor<4xf32>
  %z = mtc.add %y, %x : tensor<4xf32>
  return %z, %y : tensor<4xf32>, tensor<4xf32>
}

func.func @f(%h0: tensor<4xf32>, %x: tensor<8x4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[F:.*]]:2 = mtc.scan @cell 8 times from(%arg0) over(%arg1) with(%arg2) : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
  %h, %y = mtc.scan @cell 8 times from(%h0) over(%x) with(%w)
    : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
  // CHECK: mtc.scan @cell 8 times reversed from(%[[F]]#0) over(%[[F]]#1) with(%arg2) :
  %g, %z = mtc.scan @cell 8 times reversed from(%h) over(%y) with(%w)
    : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
  return %g, %z : tensor<4xf32>, tensor<8x4xf32>
}
