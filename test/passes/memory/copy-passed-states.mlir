// If an iteration returns a state as the next value of another state, even through views, the state is copied. Other results stay.
//
// RUN: mtc-opt %s --pass-pipeline="builtin.module(func.func(mtc-copy-passed-states))" | FileCheck %s

// CHECK-LABEL: func.func private @swap
// CHECK-SAME: (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>, %[[X:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[NEXT_A:.*]] = mtc.move %[[B]] to {{ *}}device : tensor<8xf32>
// CHECK-NEXT: %[[NEXT_B:.*]] = mtc.move %[[A]] to {{ *}}device : tensor<8xf32>
// CHECK-NEXT: return %[[NEXT_A]], %[[NEXT_B]], %[[A]]
func.func private @swap(%a: tensor<8xf32>, %b: tensor<8xf32>, %x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {mtc.body = array<i64: 2, 1>} {
  return %b, %a, %a : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func private @view
// CHECK: %[[V:.*]] = mtc.reshape %arg0
// CHECK-NEXT: %[[COPY:.*]] = mtc.move %[[V]] to {{ *}}device : tensor<2x4xf32>
// CHECK-NEXT: return %arg0, %[[COPY]]
func.func private @view(%a: tensor<8xf32>, %b: tensor<2x4xf32>)
    -> (tensor<8xf32>, tensor<2x4xf32>) attributes {mtc.body = array<i64: 2, 0>} {
  %v = mtc.reshape %a : tensor<8xf32> -> tensor<2x4xf32>
  return %a, %v : tensor<8xf32>, tensor<2x4xf32>
}

// The state is unchanged, and a slice of an input is no state.
// CHECK-LABEL: func.func private @same
// CHECK-NOT: mtc.move
func.func private @same(%a: tensor<8xf32>, %b: tensor<8xf32>, %x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) attributes {mtc.body = array<i64: 2, 1>} {
  return %a, %x : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @function
// CHECK-NOT: mtc.move
func.func @function(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}
