// One violation of each constraint of ReductionOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{axes [1, 0] must be ascending axes of the operand, of rank 2 (reduce_c1)}}
  %s = mtc.reduce add %x axes [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x8xf32>) {
  // expected-error @below {{result is 'tensor<8xf32>', expected extents [4] of 'f32' (reduce_c2)}}
  %s = mtc.reduce add %x axes [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4xf32>) {
  // expected-error @below {{or cannot reduce 'f32', expected i1 (reduce_c3)}}
  %s = mtc.reduce or %x axes [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c3_numbers(%x: tensor<4xi1>) {
  // expected-error @below {{add cannot reduce 'i1', expected numbers (reduce_c3)}}
  %s = mtc.reduce add %x axes [0] : tensor<4xi1> -> tensor<i1>
  return
}

// -----

func.func @contract_c1(%a: tensor<4x8xf32>) {
  // expected-error @below {{batch axes [0] x [0] and contracted axes [0] x [1] must be distinct, within ranks 2 and 2, and equally many on both sides (contract_c1)}}
  %y = mtc.contract %a, %a batch [0] x [0] over [0] x [1] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @contract_c1_count(%a: tensor<4x8xf32>) {
  // expected-error @below {{equally many on both sides (contract_c1)}}
  %y = mtc.contract %a, %a batch [] x [] over [0, 1] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @contract_c1_range(%a: tensor<4x8xf32>) {
  // expected-error @below {{contracted axes [2] x [0] must be distinct, within ranks 2 and 2}}
  %y = mtc.contract %a, %a batch [] x [] over [2] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @contract_c2(%a: tensor<4x8xf32>) {
  // expected-error @below {{axis 1 of lhs has extent 8, axis 0 of rhs 4: paired axes must be equal (contract_c2)}}
  %y = mtc.contract %a, %a batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @contract_c3(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) {
  // expected-error @below {{result has extents [5, 4], expected [4, 5] (contract_c3)}}
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @contract_c3_element(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) {
  // expected-error @below {{elements are 'f32', 'f32' and 'bf16', expected the same, or a result of f32 where operands are narrower (contract_c3)}}
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xbf16>
  return
}

// -----

func.func @contract_c3_half(%a: tensor<4x8xf16>, %b: tensor<8x5xf16>) {
  // expected-error @below {{elements are 'f16', 'f16' and 'bf16', expected the same, or a result of f32 where operands are narrower (contract_c3)}}
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xf16>, tensor<8x5xf16> -> tensor<4x5xbf16>
  return
}

// -----

func.func @fused_contract_c6_element(%a: tensor<4x8xbf16>, %b: tensor<8x5xbf16>, %c: tensor<4x5xf16>) {
  // expected-error @below {{adds values of types 'tensor<4x5xf16>', expected at most 2 of the extents of 'tensor<4x5xf32>'}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] adding %c : tensor<4x5xf16> : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xf32>
  return
}

// -----

func.func @fused_contract_c6(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<5xf32>) {
  // expected-error @below {{adds values of types 'tensor<5xf32>', expected at most 2 of the extents of 'tensor<4x5xf32>', of the operands' element type, or f32 if that is narrower (fused_contract_c6)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] adding %c : tensor<5xf32> : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @fused_contract_c6_number(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @below {{expected at most 2 of the extents of 'tensor<4x5xf32>', of the operands' element type, or f32 if that is narrower (fused_contract_c6)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] adding %c, %c, %c : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
         : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @cumulative_sum_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{axis 2 is not within rank 2 (cumulative_sum_c1)}}
  %s = mtc.cumulative_sum %x axis 2 : tensor<4x8xf32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{values have extents [4, 9], expected those of [4, 8] with the last between 1 and the operand's (top_k_c1)}}
  %v, %i = mtc.top_k %x : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi64>
  return
}

// -----

func.func @top_k_c1_indices(%x: tensor<4x8xf32>) {
  // expected-error @below {{values have extents [4, 3] and indices [4, 2], expected the same (top_k_c1)}}
  %v, %i = mtc.top_k %x : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x2xi64>
  return
}

// -----

func.func @top_k_c1_scalar(%x: tensor<f32>) {
  // expected-error @below {{(top_k_c1)}}
  %v, %i = mtc.top_k %x : tensor<f32> -> tensor<f32>, tensor<i64>
  return
}

// -----

func.func @random_bits_c1(%seed: tensor<2xi64>, %step: tensor<i64>) {
  // expected-error @below {{seed, step or part is 'tensor<2xi64>', expected 'tensor<i64>' (random_bits_c1)}}
  %r = mtc.random_bits %seed, %step stream 3 : (tensor<2xi64>, tensor<i64>) -> tensor<4xi32>
  return
}

// -----

func.func @random_bits_c1_stream(%seed: tensor<i64>) {
  // expected-error @below {{stream 4294967296 does not fit into 32 bits (random_bits_c1)}}
  %r = mtc.random_bits %seed, %seed stream 4294967296 : (tensor<i64>, tensor<i64>) -> tensor<4xi32>
  return
}

// -----

func.func @random_bits_c2(%seed: tensor<i64>) {
  // expected-error @below {{result has elements 'i64', expected 32-bit integers (random_bits_c2)}}
  %r = mtc.random_bits %seed, %seed stream 0 : (tensor<i64>, tensor<i64>) -> tensor<4xi64>
  return
}

// -----

func.func @random_bits_c2_count(%seed: tensor<i64>) {
  // expected-error @below {{has more elements than 32 bits can number (random_bits_c2)}}
  %r = mtc.random_bits %seed, %seed stream 0 : (tensor<i64>, tensor<i64>) -> tensor<65536x65537xi32>
  return
}

// -----

func.func @fused_contract_contract_c2(%a: tensor<4x8xf32>, %b: tensor<7x16xf32>) {
  // expected-error @below {{axis 1 of lhs has extent 8, axis 0 of rhs 7: paired axes must be equal (contract_c2)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then relu : tensor<4x8xf32>, tensor<7x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c1(%a: tensor<4x8xf64>, %b: tensor<8x16xf64>) {
  // expected-error @below {{returns 'tensor<4x16xf64>' over 1 axes, expected floats of at most 32 bits and a contracted axis (fused_contract_c1)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then relu : tensor<4x8xf64>, tensor<8x16xf64> -> tensor<4x16xf64>
  return
}

// -----

func.func @fused_contract_c1_axes(%a: tensor<4xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{over 0 axes, expected floats of at most 32 bits and a contracted axis (fused_contract_c1)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [] x [] then relu : tensor<4xf32>, tensor<16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c2(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{has neither an addend nor an activation nor a sum (fused_contract_c2)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c3(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{has no pre-activation, expected one of type 'tensor<4x16xf32>' (fused_contract_c3)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then gelu_gradient : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c3_type(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %z: tensor<16x4xf32>) {
  // expected-error @below {{has a pre-activation of type 'tensor<16x4xf32>', expected one of type 'tensor<4x16xf32>' (fused_contract_c3)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then gelu_gradient at %z : tensor<16x4xf32> : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c3_other(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %z: tensor<4x16xf32>) {
  // expected-error @below {{has a pre-activation of type 'tensor<4x16xf32>', expected none (fused_contract_c3)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then gelu at %z : tensor<4x16xf32> : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c4(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{has an auxiliary result of type 'tensor<4x16xf32>', expected one of gelu, of type 'tensor<4x16xf32>' (fused_contract_c4)}}
  %y, %z = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then relu : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c4_type(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{has an auxiliary result of type 'tensor<64xf32>', expected one of gelu, of type 'tensor<4x16xf32>' (fused_contract_c4)}}
  %y, %z = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then gelu : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<64xf32>
  return
}

// -----

func.func @fused_contract_c5(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{returns sums, but has no `summed` attribute (fused_contract_c5)}}
  %y, %s = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] then relu : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> sums tensor<16xf32>
  return
}

// -----

func.func @fused_contract_c5_none(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{returns sums of lhs and has 0 batch axes, expected sums of type 'tensor<4xf32>' and no batch axes (fused_contract_c5)}}
  %y = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] summing lhs : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @fused_contract_c5_type(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error @below {{returns sums of rhs and has 0 batch axes, expected sums of type 'tensor<16xf32>' and no batch axes (fused_contract_c5)}}
  %y, %s = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] summing rhs : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> sums tensor<4xf32>
  return
}

// -----

func.func @fused_contract_c5_batch(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>) {
  // expected-error @below {{returns sums of rhs and has 1 batch axes}}
  %y, %s = mtc.fused_contract %a, %b batch [0] x [0] over [2] x [1] summing rhs
             : tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x4x16xf32> sums tensor<16xf32>
  return
}

// -----

func.func @add_rows_c1(%rows: tensor<3x8xf32>) {
  // expected-error @below {{adds 4 elements from column 5 of 'tensor<3x8xf32>', expected columns of a matrix (add_rows_c1)}}
  %s = mtc.add_rows %rows from 5 : tensor<3x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @add_rows_c1_matrix(%rows: tensor<8xf32>) {
  // expected-error @below {{adds 1 elements from column 0 of 'tensor<8xf32>', expected columns of a matrix (add_rows_c1)}}
  %s = mtc.add_rows %rows : tensor<8xf32> -> tensor<f32>
  return
}

// -----

func.func @add_rows_c2(%rows: tensor<3x8xf32>, %sum: tensor<4x2xf32>) {
  // expected-error @below {{has the result 'tensor<8xf32>', expected elements of 'f32', which `onto` and `decay` have, too (add_rows_c2)}}
  %s = mtc.add_rows %rows onto %sum : tensor<4x2xf32> : tensor<3x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @add_rows_c2_decay(%rows: tensor<3x8xf32>, %sum: tensor<8xf32>) {
  // expected-error @below {{(add_rows_c2)}}
  %s = mtc.add_rows %rows onto %sum : tensor<8xf32> decay 5.000000e-01 : f64 : tensor<3x8xf32> -> tensor<8xf32>
  return
}
