// The sum of tiles of a contraction with a 16-bit result is rounded once. If a library cannot add f32 numbers to a 16-bit result, a kernel
// adds them.
//
// RUN: mtc-opt %s -split-input-file --mtc-fit="recompute=none memory=80000000" | FileCheck %s

// CHECK-LABEL: func.func @gpu
// CHECK: %[[G0:.*]] = mtc.contract {{.*}} over [0] x [0] {{.*}} -> tensor<65536x8xf32>
// CHECK: %[[G1:.*]] = mtc.fused_contract {{.*}} over [0] x [0] adding %[[G0]] {{.*}} -> tensor<65536x8xf32>
// CHECK: %[[G:.*]] = mtc.kernel [65536, 8](%[[G1]]) {{.*}} : (tensor<65536x8xf32>) -> tensor<65536x8xbf16>
// CHECK: return %[[G]]
module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = bf16>} {
  func.func @gpu(%x: tensor<512x8xbf16> {mtc.name = "x"}, %u: tensor<8x65536xbf16> {mtc.name = "u"}, %t: tensor<512x8xbf16> {mtc.name = "t"})
      -> (tensor<65536x8xbf16> {mtc.name = "g"}) {
    %y = mtc.contract %x, %u batch [] x [] over [1] x [0] : tensor<512x8xbf16>, tensor<8x65536xbf16> -> tensor<512x65536xbf16>
    %g = mtc.contract %y, %t batch [] x [] over [0] x [0] : tensor<512x65536xbf16>, tensor<512x8xbf16> -> tensor<65536x8xbf16>
    return %g : tensor<65536x8xbf16>
  }
}
