// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @outside(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{is 'tensor<2x8xf32>' from element 32 of 'tensor<4x8xf32>', expected elements that it has (tile_c1)}}
  %p = mtc.tile %x from 32 : tensor<4x8xf32> -> tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}

// -----

func.func @negative(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{is 'tensor<2x8xf32>' from element -16 of 'tensor<4x8xf32>', expected elements that it has (tile_c1)}}
  %p = mtc.tile %x from -16 : tensor<4x8xf32> -> tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}

// -----

func.func @unaligned(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{begins at element 8 of 'tensor<4x8xf32>', expected a multiple of 64 bytes (tile_c2)}}
  %p = mtc.tile %x from 8 : tensor<4x8xf32> -> tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}

// -----

func.func @too_few(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{assembles 64 elements, expected those of 'tensor<4x8xf32>' (assemble_c1)}}
  %y = mtc.assemble %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @other_elements(%x: tensor<4x8xi32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{assembles 'tensor<4x8xi32>', expected elements of 'tensor<4x8xf32>' (assemble_c1)}}
  %y = mtc.assemble %x : tensor<4x8xi32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @unaligned_tiles(%x: tensor<1x8xf32>, %y: tensor<3x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{has tile 1 begin at element 8, expected a multiple of 64 bytes (assemble_c2)}}
  %z = mtc.assemble %x, %y : tensor<1x8xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
