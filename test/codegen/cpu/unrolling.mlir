// Loops are unrolled completely only up to 128 registers that are loaded and stored. On AVX-512, 64 lanes are 4 registers.
// RUN: mtc-run --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: mtc-run --cpu=x86-64-v4 --emit=asm %s | FileCheck %s
// NUMBERS: @rows: {{.*}} ok
// NUMBERS: @row: {{.*}} ok

// The 8 iterations over 512 columns access 64 registers. The loop over rows is not unrolled.
// CHECK-LABEL: mtc_kernel.rows:
// CHECK-COUNT-32: vmovups %zmm{{[0-9]+}}, {{[-0-9]*}}(
// CHECK-NOT: vmovups %zmm{{[0-9]+}}, {{[-0-9]*}}(
// CHECK-LABEL: mtc_kernel.row:
mtc.kernel_function @rows [128, 32, 512] -> [tensor<128x32x512xf32>] {
^body(%a: tensor<32x128x512xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d1, d0, d2)> : tensor<32x128x512xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
}

// The 32 iterations would access 384 registers. LLVM's limit for partial unrolling permits two iterations.
// CHECK-COUNT-8: vmovups %zmm{{[0-9]+}}, {{[-0-9]*}}(
// CHECK-NOT: vmovups %zmm{{[0-9]+}}, {{[-0-9]*}}(
mtc.kernel_function @row [2048] -> [tensor<2048xf32>] {
^body(%a: tensor<4096xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4096xf32> -> f32
  %y = mtc.kernel.load %a at affine_map<(d0) -> (d0 + 2048)> : tensor<4096xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0) -> (d0)>] : f32
}
