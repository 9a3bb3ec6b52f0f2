// One violation of each constraint of IndexingOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @gather_c1(%x: tensor<4x10xf32>, %i: tensor<4x3xi64>) {
  // expected-error @below {{axis 0 and batch 1 must obey 0 <= batch <= axis < 2 and batch <= 2 (gather_c1)}}
  %y = mtc.gather %x, %i axis 0 batch 1 : tensor<4x10xf32>, tensor<4x3xi64> -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c1_indices(%x: tensor<4x10xf32>, %i: tensor<i64>) {
  // expected-error @below {{axis 1 and batch 1 must obey 0 <= batch <= axis < 2 and batch <= 0 (gather_c1)}}
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<4x10xf32>, tensor<i64> -> tensor<4xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4x10xf32>, %i: tensor<5x3xi64>) {
  // expected-error @below {{batch extents are [4] and [5], expected the same (gather_c2)}}
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<4x10xf32>, tensor<5x3xi64> -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4x10xf32>, %i: tensor<4x3xi64>) {
  // expected-error @below {{gathered elements are 'tensor<4x10xf32>', expected 'tensor<4x3xf32>' (gather_c3)}}
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<4x10xf32>, tensor<4x3xi64> -> tensor<4x10xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<4x0xf32>, %i: tensor<4x3xi64>) {
  // expected-error @below {{indices point into axis 1, which has no element (gather_c4)}}
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<4x0xf32>, tensor<4x3xi64> -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_add_c2(%u: tensor<3x8xf32>, %i: tensor<3xi64>, %b: tensor<9x8xf32>) {
  // expected-error @below {{adds onto 'tensor<9x8xf32>', but returns 'tensor<10x8xf32>' (scatter_add_c2)}}
  %y = mtc.scatter_add %u, %i axis 0 batch 0 onto %b : tensor<9x8xf32> : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
  return
}

// -----

func.func @scatter_add_c1(%u: tensor<3x8xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{gathered elements are 'tensor<3x8xf32>', expected 'tensor<4x8xf32>' (scatter_add_c1)}}
  %y = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<3x8xf32>, tensor<4xi64> -> tensor<10x8xf32>
  return
}

// -----

func.func @scatter_add_c1_axis(%u: tensor<3x8xf32>, %i: tensor<3xi64>) {
  // expected-error @below {{axis 2 and batch 0 must obey 0 <= batch <= axis < 2 and batch <= 1 (scatter_add_c1)}}
  %y = mtc.scatter_add %u, %i axis 2 batch 0 : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
  return
}
