// One violation of each constraint of StoredOps.td, and of the constraints of #mtc.stored as an initial value.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{(variable_c4)}}
mtc.variable parameter @w : tensor<360xui8> = #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"w">>

// -----

// expected-error @below {{of the role frozen is 'tensor<361xui8>', but starts as #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"w">> (variable_c4)}}
mtc.variable frozen @w : tensor<361xui8> = #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"w">>

// -----

// expected-error @below {{(variable_c4)}}
mtc.variable frozen @w : tensor<64x10xbf16> = #mtc.stored<bf16, tensor<64x10xf32>, #mtc.initializer<"w">, transposed>

// -----

func.func @matrix(%x: tensor<8x64xf32>, %w: tensor<359xui8>) {
  // expected-error @below {{reads 'tensor<359xui8>' as 'tensor<10x64xf32>' of nf4, expected the stored type of the matrix (stored_contract_c1)}}
  %0 = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<359xui8> -> tensor<8x10xf32>
  return
}

// -----

func.func @axis(%x: tensor<8x64xf32>, %w: tensor<360xui8>) {
  // expected-error @below {{sums over axis 0 of 'tensor<8x64xf32>' and axis 1 of 'tensor<10x64xf32>', expected axes of equal extents (stored_contract_c2)}}
  %0 = mtc.stored_contract %x, %w over 0 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
  return
}

// -----

func.func @result(%x: tensor<8x64xf32>, %w: tensor<360xui8>) {
  // expected-error @below {{returns 'tensor<10x8xf32>', expected extents [8, 10] and floats of 16 or 32 bits that hold the sums (stored_contract_c3)}}
  %0 = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<10x8xf32>
  return
}

// -----

func.func @element(%x: tensor<8x64xf64>, %w: tensor<360xui8>) {
  // expected-error @below {{(stored_contract_c3)}}
  %0 = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf64>, tensor<360xui8> -> tensor<8x10xf64>
  return
}

// -----

func.func @widened(%w: tensor<360xui8>) {
  // expected-error @below {{reads 'tensor<360xui8>' as 'tensor<10x65xf32>', expected the stored type of the result (widen_stored_c1)}}
  %0 = mtc.widen_stored %w : tensor<360xui8> -> tensor<10x65xf32>
  return
}
