// The cotangent is summed over the broadcast axes.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @broadcast_vjp
// CHECK-SAME: (%{{.*}}: tensor<2xf64>, %[[DY:.*]]: tensor<3x2x4xf64>)
// CHECK-NEXT: %[[DX:.*]] = mtc.reduce add %[[DY]] axes [0, 2]
// CHECK-NEXT: return %[[DX]]
func.func @broadcast(%x: tensor<2xf64>) -> tensor<3x2x4xf64> {
  %y = mtc.broadcast %x axes [0, 2] : tensor<2xf64> -> tensor<3x2x4xf64>
  return %y : tensor<3x2x4xf64>
}
