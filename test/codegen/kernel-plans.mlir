// RUN: split-file %s %t
// RUN: mtc-run --emit llvm %t/ours.mlir | FileCheck %s --check-prefix OURS
// RUN: mtc-run --emit llvm %t/given.mlir | FileCheck %s --check-prefix GIVEN
// RUN: mtc-run --check %t/given.mlir | FileCheck %s --check-prefix NUMBERS
// RUN: not mtc-run --check %t/dims.mlir 2>&1 | FileCheck %s --check-prefix DIMS
// RUN: not mtc-run --check %t/items.mlir 2>&1 | FileCheck %s --check-prefix ITEMS
// RUN: not mtc-run --check %t/lanes.mlir 2>&1 | FileCheck %s --check-prefix LANES
// RUN: not mtc-run --check %t/field.mlir 2>&1 | FileCheck %s --check-prefix FIELD
// RUN: not mtc-run --check %t/other.mlir 2>&1 | FileCheck %s --check-prefix OTHER
// RUN: mtc-run --target cuda --emulate --check %t/other.mlir | FileCheck %s --check-prefix NUMBERS
// RUN: not mtc-run --target cuda --emulate --check %t/launches.mlir 2>&1 | FileCheck %s --check-prefix LAUNCHES
// RUN: not mtc-run --target cuda --emulate --check %t/shape.mlir 2>&1 | FileCheck %s --check-prefix SHAPE
// RUN: not mtc-run --target cuda --emulate --check %t/width.mlir 2>&1 | FileCheck %s --check-prefix WIDTH

// RUN: not mtc-run --check %t/partials.mlir 2>&1 | FileCheck %s --check-prefix PARTIALS
// RUN: not mtc-run --target cuda --emulate --check %t/scratch.mlir 2>&1 | FileCheck %s --check-prefix SCRATCH
// RUN: not mtc-run --target cuda --emulate --check %t/blocks.mlir 2>&1 | FileCheck %s --check-prefix BLOCKS

// A kernel runs by the plan in its attribute.

// OURS: <64 x float>
// GIVEN-NOT: <64 x float>
// GIVEN: <8 x float>
// NUMBERS: @k: {{.*}} ok

//--- ours.mlir
mtc.kernel_function @k [256] -> [tensor<256xf32>] {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  %w = arith.addf %v, %v : f32
  mtc.kernel.yield %w at [affine_map<(d0) -> (d0)>] : f32
}
//--- given.mlir
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cpu.loops<blocked = 0, block = 64, vector = 0, lanes = 8, extent = 4> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  %w = arith.addf %v, %v : f32
  mtc.kernel.yield %w at [affine_map<(d0) -> (d0)>] : f32
}
//--- dims.mlir
// DIMS: 'mtc.kernel_function' op has the plan #mtc_cpu.loops<inner = [0, 1]>, but 'items', 'blocked', 'inner' and 'reduced' are not the 1 dims of the kernel, each once; remove it to use the target's plan
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cpu.loops<inner = [0, 1]> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- items.mlir
// ITEMS: but 'extent' is not the number of items, 4
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cpu.loops<blocked = 0, block = 64, extent = 3> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- lanes.mlir
// LANES: but 'vector' and 'lanes' are inconsistent
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cpu.loops<inner = [0], vector = 0, lanes = 12> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- field.mlir
// FIELD: a plan of this kind has no field 'lane'
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cpu.loops<inner = [0], lane = 8> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- other.mlir
// OTHER: but it belongs to another target; remove it to use the target's plan
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cuda.launches<shape = elementwise<vector = <dim = 0, width = 2>, dims = [0]>, launches = [<grid = [2, 1, 1], block = [32, 1, 1]>]> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- launches.mlir
// LAUNCHES: but a launch has more threads, blocks or shared memory than a GPU
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cuda.launches<shape = elementwise<dims = [0]>, launches = [<block = [2048, 1, 1]>]> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- shape.mlir
// SHAPE: but the plan is for another kind of kernel
mtc.kernel_function @k [256] -> [tensor<256xf32>] plan #mtc_cuda.launches<shape = reduction<row_dims = [0], rows = 256>, launches = [<grid = [8, 1, 1], block = [32, 1, 1]>]> {
^body(%x: tensor<256xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<256xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- width.mlir
// WIDTH: but the kernel's accesses do not form these vectors
mtc.kernel_function @k [255] -> [tensor<255xf32>] plan #mtc_cuda.launches<shape = elementwise<vector = <dim = 0, width = 8>, dims = [0]>, launches = [<grid = [2, 1, 1], block = [32, 1, 1]>]> {
^body(%x: tensor<255xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<255xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
//--- partials.mlir
// PARTIALS: but 'partials', 'sum_extent' and 'scratch' do not match the kernel's column sums
mtc.kernel_function @k [8, 16] -> [tensor<16xf32>] plan #mtc_cpu.loops<blocked = 0, block = 8, inner = [1], partials = [9223372036854775807], scratch = 64, sum_extent = 1> {
^body(%x: tensor<8x16xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x16xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d1)>] add [0] : f32
}
//--- scratch.mlir
// SCRATCH: but partial results are outside the scratch
mtc.kernel_function @k [4096] reduce [0] -> [tensor<f32>] plan #mtc_cuda.launches<shape = reduction<reduced_dims = [0], team = 32, splits = 4, chunk = 1024, steps = 4096>, launches = [<grid = [4, 1, 1], block = [32, 1, 1]>, <block = [32, 1, 1]>]> {
^body(%x: tensor<4096xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4096xf32> -> f32
  %s = mtc.kernel.reduce add %v : f32
  mtc.kernel.yield %s at [affine_map<(d0) -> ()>] : f32
}
//--- blocks.mlir
// BLOCKS: but 'sums_blocks' needs sums in registers and whole blocks of groups
mtc.kernel_function @k [256, 128] -> [tensor<128xf32>] plan #mtc_cuda.launches<shape = reduction<vector = <dim = 1, width = 4>, along_rows = true, row_dims = [0], reduced_dims = [1], team = 32, rows_per_block = 8, chunk = 32, resident_steps = 1, rows = 256, steps = 32, groups = 36, partials = [0], sums_blocks = true>, launches = [<grid = [5, 1, 1], block = [256, 1, 1], shared = 4096>, <grid = [4, 1, 1], block = [1024, 1, 1], shared = 4096>], scratch = 4096> {
^body(%x: tensor<256x128xf32>):
  %v = mtc.kernel.load %x at affine_map<(d0, d1) -> (d0, d1)> : tensor<256x128xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d1)>] add [0] : f32
}
