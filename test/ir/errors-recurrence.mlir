// One violation of each constraint of RecurrenceOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @recurrence_c1(%x: tensor<5x2x12xf32>, %r: tensor<12x4xf32>, %h: tensor<2x3xf32>) {
  // expected-error @below {{gates, weights and state have extents [5, 2, 12], [12, 4] and [2, 3], expected [T, B, G * H], [G * H, H] and [B, H] with G = 3 and T > 0 (recurrence_c1)}}
  %a, %y, %m = mtc.recurrence gru %x, %r from %h
    : (tensor<5x2x12xf32>, tensor<12x4xf32>, tensor<2x3xf32>) -> (tensor<5x2x12xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>)
  return
}

// -----

func.func @recurrence_c1_no_step(%x: tensor<0x2x3xf32>, %r: tensor<3x3xf32>, %h: tensor<2x3xf32>) {
  // expected-error @below {{with G = 1 and T > 0 (recurrence_c1)}}
  %a, %y = mtc.recurrence tanh %x, %r from %h
    : (tensor<0x2x3xf32>, tensor<3x3xf32>, tensor<2x3xf32>) -> (tensor<0x2x3xf32>, tensor<0x2x3xf32>)
  return
}

// -----

func.func @recurrence_c2(%x: tensor<5x2x12xf32>, %r: tensor<12x3xf32>, %h: tensor<2x3xf32>) {
  // expected-error @below {{expected a cell [2, 3] for lstm only, and a bias [3] for gru_reset_after only (recurrence_c2)}}
  %a, %y, %c = mtc.recurrence lstm %x, %r from %h
    : (tensor<5x2x12xf32>, tensor<12x3xf32>, tensor<2x3xf32>) -> (tensor<5x2x12xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>)
  return
}

// -----

func.func @recurrence_c3(%x: tensor<5x2x3xf32>, %r: tensor<3x3xf32>, %h: tensor<2x3xf32>) {
  // expected-error @below {{expected activations [5, 2, 3], and states and, for lstm and gru, an auxiliary result [5, 2, 3] (recurrence_c3)}}
  %a, %y, %c = mtc.recurrence relu %x, %r from %h
    : (tensor<5x2x3xf32>, tensor<3x3xf32>, tensor<2x3xf32>) -> (tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>)
  return
}

// -----

func.func @recurrence_gradient_c1(%a: tensor<5x2x3xf32>, %r: tensor<3x3xf32>, %h: tensor<2x3xf32>) {
  // expected-error @below {{expected states, d_states, auxiliary and d_auxiliary [5, 2, 3] and a cell [2, 3], where the kind has them (recurrence_gradient_c1)}}
  %d, %e = mtc.recurrence_gradient tanh %a, %r of %a from %h at %a, %a
    : tensor<5x2x3xf32>, tensor<3x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>
      -> tensor<5x2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @recurrence_gradient_c2(%a: tensor<5x2x3xf32>, %r: tensor<3x3xf32>, %h: tensor<2x3xf32>) {
  // expected-error @below {{expected d_gates [5, 2, 3], d_state and d_cell [2, 3] and d_candidate [5, 2, 3], where the kind has them (recurrence_gradient_c2)}}
  %d, %e = mtc.recurrence_gradient tanh %a, %r of %a from %h at %a
    : tensor<5x2x3xf32>, tensor<3x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<5x2x3xf32>
      -> tensor<5x2x3xf32>, tensor<3x2xf32>
  return
}
