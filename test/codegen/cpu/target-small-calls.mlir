// RUN: mtc-opt %s --split-input-file --pass-pipeline='builtin.module(mtc-attach-target,func.func(mtc-prepare-calls,mtc-form-kernels))' | FileCheck %s

// A kernel computes a small contraction faster than oneDNN. The kernel reads the contraction's operands, because kernels do not load
// strided views.
// CHECK-LABEL: func.func @f
// CHECK-NOT: mtc.contract
// CHECK-NOT: mtc.strided_view
// CHECK: return
func.func @f(%x: tensor<4x3xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %s = mtc.slice %x offsets [0, 1] strides [1, 1] : tensor<4x3xf32> -> tensor<4x2xf32>
  %r = mtc.contract %s, %y batch [] x [] over [1] x [0] : tensor<4x2xf32>, tensor<2xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Ranks that share layers have the order of one rank, whose contractions are larger: none becomes a kernel.
// CHECK-LABEL: func.func @divided
// CHECK: mtc.contract
mtc.program "divided" stage training ranks <count = 2, tensor = 2> {}
func.func @divided(%x: tensor<4x2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %r = mtc.contract %x, %y batch [] x [] over [1] x [0] : tensor<4x2xf32>, tensor<2xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}
