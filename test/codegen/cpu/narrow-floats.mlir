// 16-bit floats are converted as whole vectors on every processor: by conversion instructions if the processor has them, otherwise by
// integer operations, but never by a function call per lane.
// RUN: mtc-run --cpu=znver4 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,BF16,F16C --implicit-check-not=call
// RUN: mtc-run --cpu=x86-64-v4 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,INT16,F16C --implicit-check-not=call
// RUN: mtc-run --cpu=x86-64-v3 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,INT16,F16C --implicit-check-not=call
// RUN: mtc-run --cpu=x86-64 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,SSE --implicit-check-not=call --implicit-check-not=cvtph
// RUN: mtc-run --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: mtc-run --cpu=x86-64 --check %s | FileCheck %s --check-prefix=NUMBERS

// CHECK-LABEL: mtc_kernel.brain:
// BF16: vpmovzxwd
// BF16: vcvtneps2bf16 %zmm
// INT16-NOT: vcvtneps2bf16
// INT16: vpmovzxwd
// INT16: vpsrld
// SSE: punpcklwd
// SSE: psrld
// NUMBERS: @brain: {{.*}} ok
mtc.kernel_function @brain [1024] -> [tensor<1024xbf16>] {
^body(%a: tensor<1024xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<1024xbf16> -> f32
  %c = arith.constant 0.3 : f32
  %y = arith.mulf %x, %c : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK-LABEL: mtc_kernel.half:
// F16C: vcvtph2ps
// F16C: vcvtps2ph
// SSE: punpcklwd
// SSE: mulps
// NUMBERS: @half: {{.*}} ok
mtc.kernel_function @half [1024] -> [tensor<1024xf16>] {
^body(%a: tensor<1024xf16>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<1024xf16> -> f32
  %c = arith.constant 0.3 : f32
  %y = arith.mulf %x, %c : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// Sums of rows with values that are subnormal in f16, that round to even, and that exceed its range.
// CHECK-LABEL: mtc_kernel.rows:
// F16C: vcvtph2ps
// SSE: punpcklwd
// NUMBERS: @rows: {{.*}} ok
mtc.kernel_function @rows [16, 512] reduce [1] -> [tensor<16xbf16>, tensor<16xf16>] {
^body(%a: tensor<16x512xbf16>, %b: tensor<16x512xf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x512xbf16> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<16x512xf16> -> f32
  %p = mtc.kernel.reduce add %x : f32
  %q = mtc.kernel.reduce add %y : f32
  mtc.kernel.yield %p, %q at [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// NUMBERS: @edges: {{.*}} ok
mtc.kernel_function @edges [512] -> [tensor<512xf16>, tensor<512xf16>, tensor<512xf16>, tensor<512xbf16>] {
^body(%a: tensor<512xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<512xf32> -> f32
  %tiny = arith.constant 1.0e-7 : f32
  %huge = arith.constant 1.0e+5 : f32
  %zero = arith.constant 0.0 : f32
  %s = arith.mulf %x, %tiny : f32
  %l = arith.mulf %x, %huge : f32
  %n = arith.divf %zero, %zero : f32
  mtc.kernel.yield %s, %l, %n, %n at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : f32, f32, f32, f32
}
