// Muon updates matrices of hidden layers, but not lookup tables or the last layer; groups override this.
//
// RUN: mtc-opt %s --mtc-autodiff --mtc-optimizer="optimizer=muon ns-steps=1" 2>&1 | FileCheck %s
// RUN: mtc-opt %s --mtc-autodiff --mtc-optimizer="optimizer=muon group={{match=head optimizer=muon},{match=hidden optimizer=sgd}}" 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not mtc-opt %s --mtc-autodiff --mtc-optimizer="optimizer=muon ns-steps=1.5" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not mtc-opt %s --mtc-autodiff --mtc-optimizer="optimizer=muon adjust-lr=none" 2>&1 | FileCheck %s --check-prefix=CHOICE
// Each parameter's update follows its gradient, including its contractions.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-autodiff,mtc-optimizer{optimizer=muon ns-steps=1},mtc-fuse-update,mtc-simplify)' 2>/dev/null | FileCheck %s --check-prefix=FUSED

// CHECK: remark: muon updates 1 of 5 parameters, the hidden matrices; adamw updates the others, matrices among them: embedding, shift, head
// CHECK: mtc.variable optimizer @embedding.moment1
// CHECK: mtc.variable optimizer @embedding.moment2
// CHECK: mtc.variable optimizer @hidden.moment1
// CHECK-NOT: mtc.variable optimizer @hidden.moment2
// CHECK-LABEL: func.func @update
// CHECK: mtc.read_flat [@embedding, @shift, @head, @bias]
// CHECK: %[[W:.*]] = mtc.read @hidden : tensor<6x4xf32>
// For a tall matrix, the iteration uses the Gram matrix of its columns.
// CHECK: %[[X:.*]] = mtc.div
// CHECK: %[[S:.*]] = mtc.contract %[[X]], %[[X]] batch [] x [] over [0] x [0] : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<4x4xf32>
// CHECK: %[[SS:.*]] = mtc.contract %[[S]], %[[S]]
// CHECK: mtc.contract %[[X]], %{{.*}} batch [] x [] over [1] x [0]
// CHECK-NOT: mtc.contract
// CHECK: mtc.write @hidden.moment1
// CHECK: mtc.write @hidden,

// GROUPS: remark: muon updates 0 of 3 parameters, the hidden matrices; adamw updates the others, matrices among them: embedding, shift
// GROUPS-NOT: mtc.variable optimizer @hidden
// GROUPS: mtc.variable optimizer @head.moment1
// GROUPS-NOT: mtc.variable optimizer @head.moment2

// WHOLE: error: --ns-steps 1.5: ns-steps of muon must be a whole number, at least 1 and less than 100
// CHOICE: error: --adjust-lr none: invalid value; expected one of: original, match-rms-adamw, spectral-unclamped

// FUSED: mtc.variable gradient transient @hidden.grad
// FUSED-LABEL: func.func @micro_step
// FUSED: mtc.contract {{.*}} tensor<6x4xf32>, tensor<6x4xf32> -> tensor<4x4xf32>
// FUSED: mtc.write @hidden.moment1
// FUSED: mtc.write @hidden,
// FUSED: return
// FUSED-LABEL: func.func @gradients
// FUSED-LABEL: func.func @update
// FUSED-NOT: @hidden
// FUSED: return
mtc.variable parameter @embedding : tensor<9x4xf32> = #mtc.zeros
mtc.variable parameter @shift : tensor<2x4xf32> = #mtc.zeros
mtc.variable parameter @hidden : tensor<6x4xf32> = #mtc.zeros
mtc.variable parameter @head : tensor<3x6xf32> = #mtc.zeros
mtc.variable parameter @bias : tensor<3xf32> = #mtc.zeros
func.func @micro_step(%ids: tensor<2xi64> {mtc.name = "ids"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %embedding = mtc.read @embedding : tensor<9x4xf32>
  %shift = mtc.read @shift : tensor<2x4xf32>
  %hidden = mtc.read @hidden : tensor<6x4xf32>
  %head = mtc.read @head : tensor<3x6xf32>
  %bias = mtc.read @bias : tensor<3xf32>
  %x = mtc.gather %embedding, %ids axis 0 batch 0 : tensor<9x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
  %shifted = mtc.add %x, %shift : tensor<2x4xf32>
  %h = mtc.contract %shifted, %hidden batch [] x [] over [1] x [1] : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
  %a = mtc.tanh %h : tensor<2x6xf32>
  %t = mtc.transpose %head [1, 0] : tensor<3x6xf32> -> tensor<6x3xf32>
  %y = mtc.contract %a, %t batch [] x [] over [1] x [0] : tensor<2x6xf32>, tensor<6x3xf32> -> tensor<2x3xf32>
  %b = mtc.broadcast %bias axes [0] : tensor<3xf32> -> tensor<2x3xf32>
  %z = mtc.add %y, %b : tensor<2x3xf32>
  %s = mtc.mul %z, %z : tensor<2x3xf32>
  %l = mtc.reduce add %s axes [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %l : tensor<f32>
}
