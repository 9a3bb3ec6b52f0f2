// If no loss is given, it is inferred from the outputs.
//
// RUN: mtc-opt %s --split-input-file --mtc-attach-loss | FileCheck %s

// CHECK: mtc.program {{.*}} loss "output"
func.func @forward(%x: tensor<f32> {mtc.name = "x"}, %y: tensor<4x3xf32> {mtc.name = "y"})
    -> (tensor<4x3xf32> {mtc.name = "logits"}, tensor<f32> {mtc.name = "mean"}) {
  return %y, %x : tensor<4x3xf32>, tensor<f32>
}

// -----

// CHECK: mtc.program {{.*}} loss "cross-entropy"
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf32>
}

// -----

// If several inputs have the tokens' shape, input_ids is used.
// CHECK: mtc.program {{.*}} loss "causal-lm"
// CHECK: mtc.input "labels" label shifted_from "input_ids"
func.func @forward(%mask: tensor<4x3xi64> {mtc.name = "attention_mask"}, %ids: tensor<4x3xi64> {mtc.name = "input_ids"},
                   %x: tensor<4x3x9xf32> {mtc.name = "x"}) -> (tensor<4x3x9xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3x9xf32>
}

// -----

// The mask is not counted among the inputs that may be tokens.
// CHECK: mtc.program {{.*}} loss "causal-lm"
// CHECK: mtc.input "labels" label shifted_from "tokens"
func.func @forward(%ids: tensor<4x3xi64> {mtc.name = "tokens"}, %mask: tensor<4x3xi64> {mtc.name = "attention_mask"},
                   %x: tensor<4x3x9xf32> {mtc.name = "x"}) -> (tensor<4x3x9xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3x9xf32>
}

// -----

// Of two inputs with other names, neither is used: the labels must be given.
// CHECK: mtc.program {{.*}} loss "causal-lm"
// CHECK-NOT: shifted_from
func.func @forward(%a: tensor<4x3xi64> {mtc.name = "tokens"}, %b: tensor<4x3xi64> {mtc.name = "positions"},
                   %x: tensor<4x3x9xf32> {mtc.name = "x"}) -> (tensor<4x3x9xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3x9xf32>
}

// -----

// The label of the last token is the ignored one, which unsigned labels cannot represent.
// CHECK: mtc.program {{.*}} loss "causal-lm"
// CHECK-NOT: shifted_from
func.func @forward(%ids: tensor<4x3xi64> {mtc.name = "input_ids"}, %labels: tensor<4x3xui8> {mtc.name = "labels"},
                   %x: tensor<4x3x9xf32> {mtc.name = "x"}) -> (tensor<4x3x9xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3x9xf32>
}
