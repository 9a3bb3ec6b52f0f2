// RUN: mtc-opt %s --mtc-merge-equal | FileCheck %s

// Equal operations and kernels are merged, and dead ones are erased. The bodies of kernels differ in their maps.
// CHECK: #[[$OWN:.*]] = affine_map<(d0) -> (d0)>
// CHECK: #[[$BEHIND:.*]] = affine_map<(d0) -> (d0 + 4)>
// CHECK-LABEL: func.func @kernels
// CHECK-NEXT: %[[A:.*]] = mtc.exp
// CHECK-NEXT: %[[FIRST:.*]] = mtc.kernel [4]
// CHECK: mtc.kernel.load %{{.*}} at #[[$OWN]] :
// CHECK: %[[SECOND:.*]] = mtc.kernel [4]
// CHECK: mtc.kernel.load %{{.*}} at #[[$BEHIND]] :
// CHECK-NOT: mtc.kernel [4]
// CHECK: return %[[A]], %[[A]], %[[FIRST]], %[[SECOND]], %[[FIRST]]
func.func @kernels(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = mtc.exp %x : tensor<8xf32>
  %b = mtc.exp %x : tensor<8xf32>
  %dead = mtc.tanh %x : tensor<8xf32>
  %first = mtc.kernel [4] (%x) : (tensor<8xf32>) -> tensor<4xf32> {
  ^body(%v: tensor<8xf32>):
    %0 = mtc.kernel.load %v at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
    mtc.kernel.yield %0 at [affine_map<(d0) -> (d0)>] : f32
  }
  %second = mtc.kernel [4] (%x) : (tensor<8xf32>) -> tensor<4xf32> {
  ^body(%v: tensor<8xf32>):
    %0 = mtc.kernel.load %v at affine_map<(d0) -> (d0 + 4)> : tensor<8xf32> -> f32
    mtc.kernel.yield %0 at [affine_map<(d0) -> (d0)>] : f32
  }
  %again = mtc.kernel [4] (%x) : (tensor<8xf32>) -> tensor<4xf32> {
  ^body(%v: tensor<8xf32>):
    %0 = mtc.kernel.load %v at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
    mtc.kernel.yield %0 at [affine_map<(d0) -> (d0)>] : f32
  }
  return %a, %b, %first, %second, %again : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A variable has another value after a write.
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
// CHECK-LABEL: func.func @reads
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w
// CHECK-NEXT: %[[NEGATED:.*]] = mtc.neg %[[OLD]]
// CHECK-NEXT: mtc.write @w, %[[NEGATED]]
// CHECK-NEXT: %[[NEW:.*]] = mtc.read @w
// CHECK-NEXT: return %[[OLD]], %[[OLD]], %[[NEW]]
func.func @reads() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %old = mtc.read @w : tensor<4xf32>
  %same = mtc.read @w : tensor<4xf32>
  %negated = mtc.neg %same : tensor<4xf32>
  mtc.write @w, %negated : tensor<4xf32>
  %new = mtc.read @w : tensor<4xf32>
  return %old, %same, %new : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
