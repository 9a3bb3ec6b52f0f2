// Each constraint of ReductionOps.td, broken.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{axes [1, 0] must ascend and lie within the operand's rank 2 (reduce_c1)}}
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
  // expected-error @below {{elements are 'f32', 'f32' and 'bf16', expected the same (contract_c3)}}
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xbf16>
  return
}

// -----

func.func @contract_c4(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<5xf32>) {
  // expected-error @below {{adds values of types 'tensor<5xf32>', expected at most 2 of type 'tensor<4x5xf32>' (contract_c4)}}
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] adding %c : tensor<5xf32> : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @contract_c4_number(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @below {{expected at most 2 of type 'tensor<4x5xf32>' (contract_c4)}}
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] adding %c, %c, %c : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
         : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @cumulative_sum_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{axis 2 does not lie within rank 2 (cumulative_sum_c1)}}
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
  // expected-error @below {{seed is 'tensor<2xi64>' and step 'tensor<i64>', expected 'tensor<i64>' (random_bits_c1)}}
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
