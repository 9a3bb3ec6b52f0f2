// If a processor lacks 16-bit multiplication, the call multiplies in f32. Its record has this type, and the call has the scratch
// memory.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{cpu=x86-64-v3 threads=2},mtc-kernel-pipeline,mtc-allocate)' \
// RUN:   | FileCheck %s
// No machine has instructions for f16.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{cpu=host threads=2},mtc-kernel-pipeline,mtc-allocate)' \
// RUN:   | FileCheck %s --check-prefix=HOST
// The target does not implement the query.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s --check-prefix=NONE

// CHECK-DAG: mtc.call #mtc.contraction<type = bf16, out_type = f32, product_type = f32, {{.*}} scratch {{[1-9]}}
// CHECK-DAG: mtc.call #mtc.contraction<type = f16, product_type = f32, {{.*}} scratch {{[1-9]}}
// CHECK-DAG: mtc.call #mtc.convolution<type = bf16, product_type = f32, {{.*}} scratch {{[1-9]}}
// HOST-DAG: mtc.call #mtc.contraction<type = bf16, out_type = f32
// HOST-DAG: mtc.call #mtc.contraction<type = f16, product_type = f32
// NONE-NOT: product_type
func.func @f(%a: tensor<64x64xbf16> {mtc.name = "a"}, %b: tensor<64x64xf16> {mtc.name = "b"}, %x: tensor<2x8x3xbf16> {mtc.name = "x"},
             %w: tensor<4x3x3xbf16> {mtc.name = "w"}, %c: tensor<64x64xf32> {mtc.name = "c"})
    -> (tensor<64x64xf32> {mtc.name = "r"}, tensor<64x64xf16> {mtc.name = "s"}, tensor<2x6x4xbf16> {mtc.name = "t"},
        tensor<64x64xf32> {mtc.name = "u"}) {
  %r = mtc.contract %a, %a batch [] x [] over [1] x [0] : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %s = mtc.contract %b, %b batch [] x [] over [1] x [0] : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
  %t = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xbf16>, tensor<4x3x3xbf16>) -> tensor<2x6x4xbf16>
  %u = mtc.contract %c, %c batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %r, %s, %t, %u : tensor<64x64xf32>, tensor<64x64xf16>, tensor<2x6x4xbf16>, tensor<64x64xf32>
}
