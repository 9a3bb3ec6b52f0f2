// RUN: not mtc-opt %s -mtc-split-axes=ranks=5 2>&1 | FileCheck %s

// CHECK: error: --tensor 5: no layer can be divided into 5 parts; --tensor 4 divides some
mtc.variable parameter @w1 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x16xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %w1 = mtc.read @w1 : tensor<16x64xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %w2 = mtc.read @w2 : tensor<64x16xf32>
  %y = mtc.contract %h, %w2 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
