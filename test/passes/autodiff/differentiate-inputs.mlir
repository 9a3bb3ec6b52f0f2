// The named inputs become reads of parameters with their names, so that autodiff computes their gradients. Other inputs remain arguments.
// RUN: mtc-opt %s -mtc-differentiate-inputs=inputs=x -mtc-autodiff -canonicalize | FileCheck %s
// RUN: not mtc-opt %s -mtc-differentiate-inputs=inputs=i,z,mtc.step -o %t 2>&1 | FileCheck %s --check-prefix=ERRORS

mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}, %y: tensor<4xf32> {mtc.name = "y"}, %i: tensor<4xi64> {mtc.name = "i"},
                      %reserved: tensor<4xf32> {mtc.name = "mtc.step"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %p = mtc.mul %x, %y : tensor<4xf32>
  %l = mtc.reduce add %p axes [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// CHECK: mtc.variable parameter @x : tensor<4xf32> = #mtc.zeros
// CHECK: mtc.variable gradient @x.grad : tensor<4xf32> = #mtc.zeros of @x
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %{{.*}}: tensor<4xf32> {mtc.name = "x"}, %[[Y:.*]]: tensor<4xf32> {mtc.name = "y"}
// CHECK: %[[X:.*]] = mtc.read @x
// CHECK: mtc.mul %[[X]], %[[Y]]
// CHECK: mtc.write @x.grad, %[[Y]]
// CHECK-NOT: @y.grad

// ERRORS-DAG: error: input 'i' to differentiate by is tensor<4xi64>; expected floating-point elements
// ERRORS-DAG: error: input 'z' to differentiate by: the graph has no such input; expected one of: x, y, i, mtc.step
// ERRORS-DAG: error: input 'mtc.step' to differentiate by: the name is reserved for programs; rename the input
