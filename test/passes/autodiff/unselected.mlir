// The cotangent of the operand that a select does not choose stays 0 through operations whose result or derivative may be infinite.
//
// RUN: mtc-opt %s --split-input-file --mtc-test-gradient | FileCheck %s

// sqrt(x) may be NaN, and its derivative infinite.
// CHECK-LABEL: func.func @root_vjp
// CHECK: mtc.select
// CHECK: %[[D:.*]] = mtc.select
// CHECK: %[[DX:.*]] = mtc.div %[[D]], %{{.*}}
// CHECK: %[[NONE:.*]] = mtc.compare {{ *}}eq %[[D]], %{{.*}}
// CHECK: %[[SAFE:.*]] = mtc.select %[[NONE]], %{{.*}}, %[[DX]]
// CHECK: return %[[SAFE]]
func.func @root(%x: tensor<4xf32>, %c: tensor<4xi1>) -> tensor<4xf32> {
  %zero = mtc.constant dense<0.0> : tensor<4xf32>
  %r = mtc.sqrt %x : tensor<4xf32>
  %y = mtc.select %c, %r, %zero : tensor<4xi1>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The other factor of a multiplication may be infinite. The cotangent of log(x) is finite, and its derivative is not; the cotangent of a negation is
// a constant multiple.
// CHECK-LABEL: func.func @product_vjp
// CHECK: mtc.select
// CHECK: %[[D:.*]] = mtc.select
// CHECK: %[[N:.*]] = mtc.neg %[[D]]
// CHECK-NEXT: %[[P:.*]] = mtc.mul %[[N]], %{{.*}}
// CHECK-NEXT: %[[L:.*]] = mtc.mul %[[N]], %{{.*}}
// CHECK: %[[NONE:.*]] = mtc.compare {{ *}}eq %[[N]]
// CHECK: mtc.select %[[NONE]], %{{.*}}, %[[P]]
// CHECK-NEXT: %[[Q:.*]] = mtc.div %[[L]]
// CHECK: %[[NONE:.*]] = mtc.compare {{ *}}eq %[[L]]
// CHECK: mtc.select %[[NONE]], %{{.*}}, %[[Q]]
// CHECK-NOT: mtc.select
// CHECK: return
func.func @product(%x: tensor<4xf32>, %c: tensor<4xi1>) -> tensor<4xf32> {
  %zero = mtc.constant dense<0.0> : tensor<4xf32>
  %l = mtc.log %x : tensor<4xf32>
  %p = mtc.mul %x, %l : tensor<4xf32>
  %n = mtc.neg %p : tensor<4xf32>
  %y = mtc.select %c, %n, %zero : tensor<4xi1>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// No operations are added if derivatives are finite, or if there is no select.
// CHECK-LABEL: func.func @finite_vjp
// CHECK-NOT: mtc.compare
// CHECK: return
func.func @finite(%x: tensor<4xf32>, %c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = mtc.constant dense<0.0> : tensor<4xf32>
  %two = mtc.constant dense<2.0> : tensor<4xf32>
  %s = mtc.logistic %x : tensor<4xf32>
  %h = mtc.div %s, %two : tensor<4xf32>
  %y = mtc.select %c, %h, %zero : tensor<4xi1>, tensor<4xf32>
  %l = mtc.log %x : tensor<4xf32>
  return %y, %l : tensor<4xf32>, tensor<4xf32>
}
