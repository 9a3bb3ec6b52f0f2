// Kernels with a fixed order of sums: vectors of a row may be aligned to less than their size, and long sums are shared by blocks.
// RUN: mtc-run --check --target cuda --emulate --tolerance 2e-5 %s | FileCheck %s
// RUN: mtc-run --check --tolerance 2e-5 %s | FileCheck %s

// CHECK: @rows: {{.*}} ok
mtc.kernel_function @rows [3, 24] reduce [1] -> [tensor<3xf32>, tensor<3x24xf32>] attributes {mtc.fixed_order} {
^body(%a: tensor<3x31xf32>, %b: tensor<3x24xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1 + 5)> : tensor<3x31xf32> -> f32
  %z = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x24xbf16> -> f32
  %p = arith.mulf %x, %z : f32
  %s = mtc.kernel.reduce add %p : f32
  %y = arith.mulf %p, %s : f32
  mtc.kernel.yield %s, %y at [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>] : f32, f32
}

// CHECK: @long_rows: {{.*}} ok
mtc.kernel_function @long_rows [2, 9001] reduce [1] -> [tensor<2xf32>] attributes {mtc.fixed_order} {
^body(%a: tensor<2x9001xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x9001xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %s = mtc.kernel.reduce add %d : f32
  %y = arith.mulf %s, %m : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0)>] : f32
}

// CHECK: @long_rows_of_vectors: {{.*}} ok
mtc.kernel_function @long_rows_of_vectors [2, 140000] reduce [1] -> [tensor<2xf32>] attributes {mtc.fixed_order} {
^body(%a: tensor<2x140000xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x140000xbf16> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
}

// CHECK: @columns: {{.*}} ok
mtc.kernel_function @columns [700, 6] reduce [0] -> [tensor<6xf32>] attributes {mtc.fixed_order} {
^body(%a: tensor<700x6xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<700x6xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

// CHECK: @short_columns: {{.*}} ok
mtc.kernel_function @short_columns [5, 300] reduce [0] -> [tensor<300xf32>] attributes {mtc.fixed_order} {
^body(%a: tensor<5x300xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<5x300xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

// CHECK: @images: {{.*}} ok
mtc.kernel_function @images [4, 9, 7, 12] reduce [0, 1, 2] -> [tensor<12xf32>] attributes {mtc.fixed_order} {
^body(%a: tensor<4x9x7x12xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)> : tensor<4x9x7x12xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1, d2, d3) -> (d3)>] : f32
}
