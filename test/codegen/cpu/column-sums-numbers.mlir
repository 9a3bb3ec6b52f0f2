// Column sums are compared with the interpreter: with whole vectors and remainders, one and several summed dims, preceding row reductions,
// 16-bit and 64-bit types, values that are constant along a row, and a sum over all dims.
// RUN: mtc-run %s --check --tolerance=2e-5 | FileCheck %s
// RUN: mtc-run %s --check --tolerance=2e-5 --opt=0 | FileCheck %s

// CHECK: @columns: items 4 grain {{[0-9]+}} items 1 grain {{[0-9]+}} ok
mtc.kernel_function @columns [131, 100] -> [tensor<131x100xf32>, tensor<100xf32>] {
^body(%a: tensor<131x100xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<131x100xf32> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %y, %x at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] add [1] : f32, f32
}

// CHECK: @norm{{.*}} ok
mtc.kernel_function @norm [5, 50, 96] reduce [2] -> [tensor<250x96xf32>, tensor<96xf32>, tensor<96xf32>] {
^body(%a: tensor<5x50x96xf32>, %dy: tensor<5x50x96xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<5x50x96xf32> -> f32
  %d = mtc.kernel.load %dy at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<5x50x96xf32> -> f32
  %q = arith.mulf %x, %x : f32
  %s = mtc.kernel.reduce add %q : f32
  %n = math.rsqrt %s : f32
  %h = arith.mulf %x, %n : f32
  %p = arith.mulf %h, %d : f32
  mtc.kernel.yield %h, %p, %d at [affine_map<(d0, d1, d2) -> (d0 * 50 + d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2)>] add [1, 2] : f32, f32, f32
}

// CHECK: @narrow{{.*}} ok
mtc.kernel_function @narrow [70, 33] -> [tensor<70x33xbf16>, tensor<33xf16>] {
^body(%a: tensor<70x33xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<70x33xbf16> -> f32
  mtc.kernel.yield %x, %x at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] add [1] : f32, f32
}

// CHECK: @wide{{.*}} ok
mtc.kernel_function @wide [3, 40, 7] -> [tensor<3x40x7xf64>, tensor<40xf64>] {
^body(%a: tensor<3x40x7xf64>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x40x7xf64> -> f64
  mtc.kernel.yield %x, %x at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>] add [1] : f64, f64
}

// CHECK: @of_rows{{.*}} ok
mtc.kernel_function @of_rows [64, 80] reduce [1] -> [tensor<64xf32>, tensor<f32>, tensor<f32>] {
^body(%a: tensor<64x80xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x80xf32> -> f32
  %s = mtc.kernel.reduce max %x : f32
  %t = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s, %s, %t at [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>] add [1, 2] : f32, f32, f32
}

// CHECK: @everything{{.*}} ok
mtc.kernel_function @everything [77, 13] -> [tensor<f32>] {
^body(%a: tensor<77x13xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<77x13xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> ()>] add [0] : f32
}

// The summed dim is between the others, so that the results of a row are not contiguous.
// CHECK: @middle{{.*}} ok
mtc.kernel_function @middle [4, 90, 48] -> [tensor<4x90x48xf32>, tensor<48x4xf32>] {
^body(%a: tensor<4x90x48xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x90x48xf32> -> f32
  %y = math.tanh %x : f32
  mtc.kernel.yield %y, %y at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0)>] add [1] : f32, f32
}

// Sums of results of short rows, such as the gradient of a pooling by channel: first of adjacent columns, then of columns that are not
// adjacent.
// CHECK: @pooled{{.*}} ok
mtc.kernel_function @pooled [3, 17, 40, 2, 2] reduce [3, 4] -> [tensor<40xf32>, tensor<40xf32>, tensor<3x17x40xf32>] {
^body(%a: tensor<3x17x40x4xf32>, %y: tensor<3x17x40xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3 * 2 + d4)> : tensor<3x17x40x4xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %z = mtc.kernel.load %y at affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)> : tensor<3x17x40xf32> -> f32
  %p = arith.mulf %s, %z : f32
  mtc.kernel.yield %p, %s, %s at [affine_map<(d0, d1, d2, d3, d4) -> (d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>] add [0, 1] : f32, f32, f32
}

// CHECK: @pooled_apart{{.*}} ok
mtc.kernel_function @pooled_apart [3, 5, 40, 4] reduce [3] -> [tensor<5xf32>, tensor<3x5x40xf32>] {
^body(%a: tensor<3x5x40x4xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)> : tensor<3x5x40x4xf32> -> f32
  %s = mtc.kernel.reduce max %x : f32
  mtc.kernel.yield %s, %s at [affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>] add [0] : f32, f32
}

// Sums by channel, as in the gradient of a batch normalization: on a GPU, several teams of a block read a row each.
// CHECK: @channels{{.*}} ok
mtc.kernel_function @channels [3, 37, 7, 64] -> [tensor<64xf32>, tensor<3x37x7x64xbf16>, tensor<64xf32>, tensor<64xf32>] {
^body(%a: tensor<3x37x7x64xbf16>, %b: tensor<3x37x7x64xbf16>, %m: tensor<64xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)> : tensor<3x37x7x64xbf16> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)> : tensor<3x37x7x64xbf16> -> f32
  %c = mtc.kernel.load %m at affine_map<(d0, d1, d2, d3) -> (d3)> : tensor<64xf32> -> f32
  %d = arith.subf %x, %c : f32
  %p = arith.mulf %d, %y : f32
  mtc.kernel.yield %y, %d, %p, %d at [affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>] add [0, 2, 3] : f32, f32, f32, f32
}

// CHECK: @many_channels{{.*}} ok
mtc.kernel_function @many_channels [1031, 384] -> [tensor<384xf32>, tensor<384xf32>] {
^body(%a: tensor<1031x384xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1031x384xf32> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %x, %y at [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>] add [0, 1] : f32, f32
}

// CHECK: @few_channels{{.*}} ok
mtc.kernel_function @few_channels [517, 6] -> [tensor<6xf64>] {
^body(%a: tensor<517x6xf64>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<517x6xf64> -> f64
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d1)>] add [0] : f64
}
