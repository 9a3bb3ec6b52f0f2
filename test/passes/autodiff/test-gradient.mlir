// RUN: mtc-opt %s --mtc-test-gradient | FileCheck %s

// The function takes cotangents of all floating-point results, and returns gradients of all floating-point arguments; gradients without a dependency
// are zeros.
//
// CHECK-LABEL: func.func @pair_vjp(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[I:[a-z0-9]+]]: tensor<4xi32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[C:[a-z0-9]+]]: tensor<2xf32>,
// CHECK-SAME: %[[DS:[a-z0-9]+]]: tensor<4xf32>, %[[DE:[a-z0-9]+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>)
// CHECK: %[[E:.*]] = mtc.exp %[[A]]
// CHECK: %[[T:.*]] = mtc.mul %[[DE]], %[[E]]
// CHECK: %[[DA:.*]] = mtc.add %[[DS]], %[[T]]
// CHECK: %[[DC:.*]] = mtc.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK: return %[[DA]], %[[DS]], %[[DC]]
func.func @pair(%a: tensor<4xf32>, %i: tensor<4xi32>, %b: tensor<4xf32>, %c: tensor<2xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %e = mtc.exp %a : tensor<4xf32>
  %s = mtc.add %a, %b : tensor<4xf32>
  return %s, %e, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}
