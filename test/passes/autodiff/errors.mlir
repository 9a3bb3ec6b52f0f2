// RUN: mtc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --mtc-autodiff

// All operations without a gradient are reported at once, in the order of the model; those that the loss does not use are not.
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
// expected-error @below {{no gradient exists for 2 operations between the parameters and the loss: test.first of node /a, test.second of node /b}}
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4xf32>
  %a = "test.first"(%w) : (tensor<4xf32>) -> tensor<4xf32> loc("/a")
  %e = mtc.exp %a : tensor<4xf32>
  %b = "test.second"(%e) : (tensor<4xf32>) -> tensor<4xf32> loc("/b")
  %dead = "test.third"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("/c")
  %l = mtc.reduce add %b axes [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{the model has no parameters to train; use --train to select initializers}}
func.func @micro_step(%x: tensor<f32>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{parameter 'w' is tensor<4xi64>; expected a floating-point tensor. Use --freeze to exclude it}}
mtc.variable parameter @w : tensor<4xi64> = #mtc.zeros
func.func @micro_step(%x: tensor<f32>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  return %x : tensor<f32>
}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
// expected-error @below {{the loss depends on no parameter; use --output to select its output}}
func.func @micro_step(%x: tensor<f32>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{the module has no function @micro_step with a result named 'mtc.loss'; run mtc-attach-loss first}}
module {
  func.func @forward() {
    return
  }
}

// -----

// A message names each parameter on which the loss does not depend, whether the parameter is read or not.
mtc.variable parameter @used : tensor<f32> = #mtc.zeros
mtc.variable parameter @read : tensor<2xf32> = #mtc.zeros
mtc.variable parameter @unread : tensor<3xf32> = #mtc.zeros
// expected-warning @below {{the loss does not depend on these parameters, whose gradients are zero: read, unread}}
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %u = mtc.read @used : tensor<f32>
  %r = mtc.read @read : tensor<2xf32>
  %e = mtc.exp %r : tensor<2xf32>
  return %u : tensor<f32>
}

// -----

// The message does not name parameters without elements.
mtc.variable parameter @used : tensor<f32> = #mtc.zeros
mtc.variable parameter @empty : tensor<4x0xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %u = mtc.read @used : tensor<f32>
  %r = mtc.read @empty : tensor<4x0xf32>
  return %u : tensor<f32>
}
