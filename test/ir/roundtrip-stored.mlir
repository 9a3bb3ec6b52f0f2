// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK: mtc.variable frozen @w : tensor<360xui8> = #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"w">, transposed>
mtc.variable frozen @w : tensor<360xui8> = #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"w">, transposed>
// CHECK: mtc.variable frozen @h : tensor<64x10xbf16> = #mtc.stored<bf16, tensor<64x10xf32>, #mtc.normal<2.000000e-02 : f64>>
mtc.variable frozen @h : tensor<64x10xbf16> = #mtc.stored<bf16, tensor<64x10xf32>, #mtc.normal<2.000000e-02 : f64>>

// CHECK-LABEL: func.func @uses
func.func @uses(%x: tensor<8x64xf32>, %n: tensor<3x8x64xbf16>, %w: tensor<360xui8>, %h: tensor<64x10xbf16>) {
  // CHECK: mtc.stored_contract %{{.*}}, %{{.*}} over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
  %0 = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
  // CHECK: mtc.stored_contract %{{.*}}, %{{.*}} over 1 x 0 of bf16 tensor<64x10xf32> first : tensor<8x64xf32>, tensor<64x10xbf16> -> tensor<10x8xf32>
  %1 = mtc.stored_contract %x, %h over 1 x 0 of bf16 tensor<64x10xf32> first : tensor<8x64xf32>, tensor<64x10xbf16> -> tensor<10x8xf32>
  // CHECK: mtc.stored_contract %{{.*}}, %{{.*}} over 2 x 1 of nf4 tensor<10x64xf32> : tensor<3x8x64xbf16>, tensor<360xui8> -> tensor<3x8x10xf32>
  %2 = mtc.stored_contract %n, %w over 2 x 1 of nf4 tensor<10x64xf32> : tensor<3x8x64xbf16>, tensor<360xui8> -> tensor<3x8x10xf32>
  // CHECK: mtc.widen_stored %{{.*}} : tensor<360xui8> -> tensor<10x64xf32>
  %3 = mtc.widen_stored %w : tensor<360xui8> -> tensor<10x64xf32>
  return
}
