// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{has chunk 2 of 2, and 2 ranks with the stride 1, expected one of the chunks, and other numbers of at least 1 (partial_c1)}}
func.func private @chunk(tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 2, chunks = 2>>)

// -----

// expected-error @below {{has chunk 0 of 1, and 0 ranks with the stride 1, expected one of the chunks, and other numbers of at least 1 (partial_c1)}}
func.func private @ranks(tensor<4xf32, #mtc.partial<add, ranks = 0>>)

// -----

func.func @whole(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{has the partial operand 'tensor<4xf32, #mtc.partial<add, ranks = 2>>', expected a whole value; compute it by 'mtc.all_reduce' or 'mtc.reduce_scatter' (partial_c2)}}
  %y = mtc.tanh %a : tensor<4xf32, #mtc.partial<add, ranks = 2>>
  return
}

// -----

mtc.variable state @v : tensor<4xf32> = #mtc.zeros
func.func @write(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{has the partial operand}}
  mtc.write @v, %a : tensor<4xf32, #mtc.partial<add, ranks = 2>>
  return
}

// -----

func.func @contract(%a: tensor<4x4xf32, #mtc.partial<add, ranks = 2>>, %b: tensor<4x4xf32>) {
  // expected-error @below {{has the partial operand}}
  %y = mtc.contract %b, %a batch [] x [] over [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32, #mtc.partial<add, ranks = 2>> -> tensor<4x4xf32>
  return
}

// -----

// A maximum of partial maxima is partial, but no sum is.
func.func @sum_of_maxima(%a: tensor<4xf32, #mtc.partial<max, ranks = 2>>) {
  // expected-error @below {{has the partial operand 'tensor<4xf32, #mtc.partial<max, ranks = 2>>'}}
  %y = mtc.add %a, %a : tensor<4xf32, #mtc.partial<max, ranks = 2>>
  return
}

// -----

func.func @result() {
  // expected-error @below {{has the partial result 'tensor<4xf32, #mtc.partial<add, ranks = 2>>', but no partial operand; expected a result of 'mtc.partial' (partial_c2)}}
  %y = mtc.constant dense<1.0> : tensor<4xf32, #mtc.partial<add, ranks = 2>>
  return
}

// -----

func.func @lost(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{has values of 'tensor<4xf32, #mtc.partial<add, ranks = 2>>' and of 'tensor<2x2xf32>', expected the encoding #mtc.partial<add, ranks = 2> of all (partial_c3)}}
  %y = mtc.reshape %a : tensor<4xf32, #mtc.partial<add, ranks = 2>> -> tensor<2x2xf32>
  return
}

// -----

func.func @mixed(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>, %b: tensor<4xf32>) {
  // expected-error @below {{and of 'tensor<4xf32>', expected the encoding #mtc.partial<add, ranks = 2> of all (partial_c3)}}
  %y = mtc.concatenate %a, %b axis 0 : (tensor<4xf32, #mtc.partial<add, ranks = 2>>, tensor<4xf32>) -> tensor<8xf32, #mtc.partial<add, ranks = 2>>
  return
}

// -----

func.func @rounded(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{to 'tensor<4xbf16, #mtc.partial<add, ranks = 2>>', expected a wider float type; convert the result of 'mtc.all_reduce' instead (partial_c4)}}
  %y = mtc.cast %a : tensor<4xf32, #mtc.partial<add, ranks = 2>> -> tensor<4xbf16, #mtc.partial<add, ranks = 2>>
  return
}

// -----

func.func @twice(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{expected a partial value of the operand's shape and element type (partial_value_c1)}}
  %y = mtc.partial %a : tensor<4xf32, #mtc.partial<add, ranks = 2>> -> tensor<4xf32, #mtc.partial<add, ranks = 2>>
  return
}

// -----

func.func @not_partial(%a: tensor<4xf32>) {
  // expected-error @below {{has the operand 'tensor<4xf32>', expected a partial value (all_reduce_c1)}}
  %y = mtc.all_reduce %a : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @missing_chunk(%a: tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 0, chunks = 2>>) {
  // expected-error @below {{has 1 operands, expected one for each of the 2 chunks (all_reduce_c1)}}
  %y = mtc.all_reduce %a : tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 0, chunks = 2>> -> tensor<4xf32>
  return
}

// -----

func.func @chunk_twice(%a: tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 0, chunks = 2>>) {
  // expected-error @below {{has the operand 'tensor<4xf32, #mtc.partial<add, ranks = 2, chunks = 2>>', expected 'tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 1, chunks = 2>>' (all_reduce_c1)}}
  %y = mtc.all_reduce %a, %a : tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 0, chunks = 2>>, tensor<4xf32, #mtc.partial<add, ranks = 2, chunk = 0, chunks = 2>> -> tensor<4xf32>
  return
}

// -----

func.func @partial_result(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{has the result 'tensor<4xf32, #mtc.partial<add, ranks = 2>>', expected 'tensor<4xf32>' (all_reduce_c2)}}
  %y = mtc.all_reduce %a : tensor<4xf32, #mtc.partial<add, ranks = 2>> -> tensor<4xf32, #mtc.partial<add, ranks = 2>>
  return
}

// -----

func.func @scattered_result(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{has the result 'tensor<4xf32>', expected 'tensor<2xf32>' (reduce_scatter_c2)}}
  %y = mtc.reduce_scatter %a along <axis = 0, parts = 2> : tensor<4xf32, #mtc.partial<add, ranks = 2>> -> tensor<4xf32>
  return
}

// -----

func.func @other_group(%a: tensor<4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{divides 'tensor<4xf32, #mtc.partial<add, ranks = 2>>' along #mtc.axis_split<axis = 0, parts = 4>, expected an axis of consecutive parts for the ranks of its group (reduce_scatter_c3)}}
  %y = mtc.reduce_scatter %a along <axis = 0, parts = 4> : tensor<4xf32, #mtc.partial<add, ranks = 2>> -> tensor<1xf32>
  return
}

// -----

func.func @scattered_parts(%a: tensor<4x4xf32, #mtc.partial<add, ranks = 2>>) {
  // expected-error @below {{expected an axis of consecutive parts for the ranks of its group (reduce_scatter_c3)}}
  %y = mtc.reduce_scatter %a along <axis = 1, parts = 2> : tensor<4x4xf32, #mtc.partial<add, ranks = 2>> -> tensor<4x2xf32>
  return
}
