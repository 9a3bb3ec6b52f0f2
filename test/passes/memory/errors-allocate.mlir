// RUN: mtc-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(mtc-allocate)'

module {
  func.func @not_formed(%x: tensor<16xf32>) -> tensor<16xf32> {
    // expected-error @below {{is neither a kernel nor a library call: it cannot be allocated}}
    %y = mtc.exp %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

module {
  mtc.variable state @v : tensor<16xf32> = #mtc.zeros
  func.func @returns_old(%x: tensor<16xf32>) -> tensor<16xf32> {
    %old = mtc.read @v : tensor<16xf32>
    // expected-error @below {{overwrites a value that the function returns}}
    mtc.write @v, %x : tensor<16xf32>
    return %old : tensor<16xf32>
  }
}

// -----

module {
  mtc.variable parameter @a : tensor<16xf32> = #mtc.zeros
  mtc.variable parameter @b : tensor<16xf32> = #mtc.zeros
  mtc.variable parameter @c : tensor<16xf32> = #mtc.zeros
  func.func @contradiction() {
    %p = mtc.read_flat [@a, @b] : tensor<32xf32>
    // expected-error @below {{needs @c directly after its predecessor, but another flat tensor places it elsewhere}}
    %q = mtc.read_flat [@a, @c] : tensor<32xf32>
    return
  }
}

// -----

module {
  func.func @no_matrix(%x: tensor<4x16x8xf32>, %w: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
    // expected-error @below {{has operand layouts that its library does not support; run mtc-prepare-calls first}}
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x16x8xf32>, tensor<16x32xf32> -> tensor<4x8x32xf32>
    return %y : tensor<4x8x32xf32>
  }
}
