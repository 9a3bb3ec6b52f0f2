// One violation of each constraint of StateOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{starts as "w", expected #mtc.initializer, #mtc.normal, #mtc.uniform, #mtc.zeros, #mtc.as_parameter, #mtc.adapted_norms, #mtc.scalar, #mtc.setting or elements (variable_c1)}}
mtc.variable parameter @w : tensor<4xf32> = "w"

// -----

// expected-error @below {{starts as elements of 'tensor<3xf32>', expected 'tensor<4xf32>' (variable_c1)}}
mtc.variable parameter @w : tensor<4xf32> = dense<0.0> : tensor<3xf32>

// -----

// expected-error @below {{has type 'tensor<?xf32>', expected a tensor of known extents that memory can hold (variable_c1)}}
mtc.variable parameter @w : tensor<?xf32> = #mtc.zeros

// -----

// expected-error @below {{has type 'f32', expected a tensor of known extents that memory can hold (variable_c1)}}
mtc.variable parameter @w : f32 = #mtc.zeros

// -----

// expected-error @below {{expected a tensor of known extents that memory can hold (variable_c1)}}
mtc.variable parameter @w : tensor<4611686018427387904xf32> = #mtc.zeros

// -----

// expected-error @below {{has the role parameter and starts as #mtc.scalar<step>, expected #mtc.scalar or #mtc.setting if and only if the role is scalar (variable_c2)}}
mtc.variable parameter @w : tensor<i64> = #mtc.scalar<step>

// -----

// expected-error @below {{has the role scalar and starts as #mtc.zeros, expected #mtc.scalar or #mtc.setting if and only if the role is scalar (variable_c2)}}
mtc.variable scalar @step : tensor<i64> = #mtc.zeros

// -----

// The runtime writes values of one type: a program that reads another type would read wrong numbers.
// expected-error @below {{is 'tensor<f32>', but the runtime writes 'tensor<f64>' (variable_c2)}}
mtc.variable scalar @rate : tensor<f32> = #mtc.scalar<learning_rate>

// -----

func.func @state_c1() {
  // expected-error @below {{@w names no variable (state_c1)}}
  %w = mtc.read @w : tensor<4xf32>
  return
}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros

func.func @state_c1_type(%v: tensor<5xf32>) {
  // expected-error @below {{value is 'tensor<5xf32>', but @w is 'tensor<4xf32>' (state_c1)}}
  mtc.write @w, %v : tensor<5xf32>
  return
}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros

func.func @flat_c1() {
  // expected-error @below {{flat tensor has 4 elements, but the padded variables have 16 (flat_c1)}}
  %f = mtc.read_flat [@w] : tensor<4xf32>
  return
}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros

func.func @flat_c1_element(%f: tensor<8xf64>) {
  // expected-error @below {{@w is 'tensor<4xf32>', expected elements 'f64' (flat_c1)}}
  mtc.write_flat [@w], %f : tensor<8xf64>
  return
}

// -----

func.func @flat_c1_symbol() {
  // expected-error @below {{@w names no variable (flat_c1)}}
  %f = mtc.read_flat [@w] : tensor<16xf32>
  return
}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros

func.func @flat_c1_rank() {
  // expected-error @below {{flat tensor is 'tensor<4x4xf32>', expected rank 1 (flat_c1)}}
  %f = mtc.read_flat [@w] : tensor<4x4xf32>
  return
}

// -----

// expected-error @below {{has the initial value of its parameter, but no `of` (variable_c3)}}
mtc.variable average @a : tensor<4xf32> = #mtc.as_parameter

// -----

mtc.variable parameter @base : tensor<10x64xf32> = #mtc.zeros
mtc.variable parameter @down : tensor<2x64xf32> = #mtc.zeros
mtc.variable parameter @up : tensor<10x2xf32> = #mtc.zeros
// expected-error @below {{@base names no frozen variable (adapter_c1)}}
mtc.adapter @base axis 1 down @down up @up alpha 1.0

// -----

mtc.variable frozen @base : tensor<10x64xf32> = #mtc.zeros
mtc.variable parameter @down : tensor<2x64xf32> = #mtc.zeros
mtc.variable parameter @up : tensor<10x2xf32> = #mtc.zeros
// expected-error @below {{adapts 'tensor<10x64xf32>' along axis 0 by 'tensor<2x64xf32>' and 'tensor<10x2xf32>', expected matrices whose product has its shape (adapter_c2)}}
mtc.adapter @base axis 0 down @down up @up alpha 1.0

// -----

mtc.variable frozen @base : tensor<10x64xf32> = #mtc.zeros
mtc.variable parameter @down : tensor<2x64xf32> = #mtc.zeros
mtc.variable parameter @up : tensor<10x2xf32> = #mtc.zeros
mtc.variable parameter @norms : tensor<64xf32> = #mtc.adapted_norms
// expected-error @below {{has magnitudes 'tensor<64xf32>', expected one for each of 10 rows (adapter_c3)}}
mtc.adapter @base axis 1 down @down up @up alpha 1.0 magnitude @norms

// -----

// expected-error @below {{counts batches, but is 'tensor<2xi64>', expected one integer (buffer_c1)}}
mtc.buffer "n" counts_batches = dense<0> : tensor<2xi64>

// -----

// expected-error @below {{counts batches, but is 'tensor<f32>', expected one integer (buffer_c1)}}
mtc.buffer "n" counts_batches = dense<0.0> : tensor<f32>
