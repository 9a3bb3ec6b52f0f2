// Lanes that a guard excludes are 0, even if all lanes of a register are excluded: LLVM 22 loads these without a mask on AVX2.
// RUN: mtc-run --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: mtc-run --cpu=x86-64-v3 --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: mtc-run --cpu=x86-64-v3 --emit=asm %s | FileCheck %s
// NUMBERS: @narrow: {{.*}} ok
// NUMBERS: @wide: {{.*}} ok

// Each row of x has one element, which becomes element 4 of the 9 elements of a row of the result. x has 50 of the 60 rows.
// CHECK-LABEL: mtc_kernel.narrow:
// CHECK: vmaskmovps (
// CHECK-NOT: vmovups {{[-0-9]*\(.*\)}}, %ymm
// CHECK-LABEL: mtc_kernel.wide:
mtc.kernel_function @narrow [60, 9] -> [tensor<60x9xf32>] {
^body(%x: tensor<50x1xf32>):
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c50 = arith.constant 50 : i64
  %row = mtc.kernel.index affine_map<(d0, d1) -> (d0)>
  %column = mtc.kernel.index affine_map<(d0, d1) -> (d1 - 4)>
  %isRow = arith.cmpi slt, %row, %c50 : i64
  %isNotBefore = arith.cmpi sge, %column, %c0 : i64
  %isNotAfter = arith.cmpi slt, %column, %c1 : i64
  %some = arith.andi %isRow, %isNotBefore : i1
  %all = arith.andi %some, %isNotAfter : i1
  %y = mtc.kernel.load %x at affine_map<(d0, d1) -> (d0, d1 - 4)> if %all else %zero : f32 : tensor<50x1xf32> -> f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

mtc.kernel_function @wide [60, 16] -> [tensor<60x16xf64>] {
^body(%x: tensor<50x2xf64>):
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c50 = arith.constant 50 : i64
  %row = mtc.kernel.index affine_map<(d0, d1) -> (d0)>
  %column = mtc.kernel.index affine_map<(d0, d1) -> (d1 - 5)>
  %isRow = arith.cmpi slt, %row, %c50 : i64
  %isNotBefore = arith.cmpi sge, %column, %c0 : i64
  %isNotAfter = arith.cmpi slt, %column, %c2 : i64
  %some = arith.andi %isRow, %isNotBefore : i1
  %all = arith.andi %some, %isNotAfter : i1
  %y = mtc.kernel.load %x at affine_map<(d0, d1) -> (d0, d1 - 5)> if %all else %zero : f64 : tensor<50x2xf64> -> f64
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f64
}
