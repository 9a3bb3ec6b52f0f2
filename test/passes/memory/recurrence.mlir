// A recurrent layer overwrites its pre-activations, and its gradient the saved activations, unless they have other users.
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s

// The weights of one direction are read in place.
// CHECK: mtc.call #mtc.recurrence<type = f32, cell = tanh, is_in_place = 1, steps = 4, batch = 2, hidden = 8> [#mtc.at<{{[0-9]+}}, tensor<8x8xf32>>, #mtc.at<{{[0-9]+}}, tensor<2x8xf32>>] into [#mtc.at<[[A:[0-9]+]], tensor<4x2x8xf32>>, #mtc.at
// CHECK: mtc.call #mtc.recurrence_gradient<type = f32, cell = tanh, is_in_place = 1, steps = 4, batch = 2, hidden = 8> [{{.*}}] into [#mtc.at<[[A]], tensor<4x2x8xf32>>, #mtc.at
module {
  func.func @f(%x: tensor<4x2x8xf32> {mtc.name = "x"}, %w: tensor<2x8x8xf32> {mtc.name = "w"}, %h: tensor<2x8xf32> {mtc.name = "h"})
      -> (tensor<4x2x8xf32> {mtc.name = "y"}) {
    %g = mtc.tanh %x : tensor<4x2x8xf32>
    %part = mtc.slice %w offsets [1, 0, 0] strides [1, 1, 1] : tensor<2x8x8xf32> -> tensor<1x8x8xf32>
    %r = mtc.reshape %part : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %a, %y = mtc.recurrence tanh %g, %r from %h
      : (tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>) -> (tensor<4x2x8xf32>, tensor<4x2x8xf32>)
    %dx, %dh = mtc.recurrence_gradient tanh %a, %r of %y from %h at %y
      : tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<4x2x8xf32>, tensor<2x8xf32>, tensor<4x2x8xf32>
      -> tensor<4x2x8xf32>, tensor<2x8xf32>
    %z = mtc.tanh %dx : tensor<4x2x8xf32>
    return %z : tensor<4x2x8xf32>
  }
}

// -----

// The input is saved.
// CHECK: mtc.call #mtc.recurrence<type = f32, cell = tanh, steps = 4, batch = 2, hidden = 8> [#mtc.at<0, tensor<4x2x8xf32>>,
module {
  func.func @f(%x: tensor<4x2x8xf32> {mtc.name = "x"}, %r: tensor<8x8xf32> {mtc.name = "r"}, %h: tensor<2x8xf32> {mtc.name = "h"})
      -> (tensor<4x2x8xf32> {mtc.name = "y"}) {
    %a, %y = mtc.recurrence tanh %x, %r from %h
      : (tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>) -> (tensor<4x2x8xf32>, tensor<4x2x8xf32>)
    return %y : tensor<4x2x8xf32>
  }
}
