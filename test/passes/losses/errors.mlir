// RUN: split-file %s %t
// RUN: mtc-opt %t/choice.mlir --split-input-file --verify-diagnostics --mtc-attach-loss
// RUN: mtc-opt %t/unknown.mlir --verify-diagnostics --mtc-attach-loss=loss=hinge
// RUN: mtc-opt %t/named.mlir --split-input-file --verify-diagnostics --mtc-attach-loss="loss=mse output=hidden"
// RUN: mtc-opt %t/output.mlir --split-input-file --verify-diagnostics --mtc-attach-loss=loss=output
// RUN: mtc-opt %t/no_scalar.mlir --verify-diagnostics --mtc-attach-loss="loss=output output=logits"
// RUN: mtc-opt %t/no_labels.mlir --verify-diagnostics --mtc-attach-loss="loss=output labels=target"
// RUN: mtc-opt %t/cross_entropy.mlir --split-input-file --verify-diagnostics --mtc-attach-loss=loss=cross-entropy
// RUN: mtc-opt %t/causal.mlir --split-input-file --verify-diagnostics --mtc-attach-loss=loss=causal-lm
// RUN: mtc-opt %t/mse.mlir --split-input-file --verify-diagnostics --mtc-attach-loss=loss=mse

//--- choice.mlir
// expected-error @below {{the graph has no floating-point output for a loss; the outputs are: 'ids' tensor<4xi64>}}
func.func @forward(%x: tensor<4xi64> {mtc.name = "x"}) -> (tensor<4xi64> {mtc.name = "ids"}) {
  return %x : tensor<4xi64>
}

// -----

// expected-error @below {{several outputs could be trained; select one with --output and its loss with --loss; the outputs are: 'a' tensor<4x3xf32>, 'b' tensor<4x3xf32>}}
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "a"}, tensor<4x3xf32> {mtc.name = "b"}) {
  return %x, %x : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// expected-error-re @below {{cannot infer the loss from output 'y' tensor<4x3x8xf32>; use --loss (cross-entropy, {{.*}}, output)}}
func.func @forward(%x: tensor<4x3x8xf32> {mtc.name = "x"}) -> (tensor<4x3x8xf32> {mtc.name = "y"}) {
  return %x : tensor<4x3x8xf32>
}

// -----

// expected-error @below {{the module has no single-block function @forward}}
module {}

//--- unknown.mlir
// expected-error-re @below {{--loss hinge: invalid value; expected one of: cross-entropy, {{.*}}, output}}
module {}

//--- named.mlir
// expected-error @below {{--output: no output 'hidden'; the outputs are: 'y' tensor<4xf32>}}
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{--output: output 'hidden' is tensor<4xi64>; expected a floating-point output}}
func.func @forward(%x: tensor<4xi64> {mtc.name = "x"}) -> (tensor<4xi64> {mtc.name = "hidden"}) {
  return %x : tensor<4xi64>
}

//--- output.mlir
// expected-error @below {{--loss output: several outputs are scalars; select the loss with --output; the outputs are: 'a' tensor<f32>, 'b' tensor<f32>}}
func.func @forward(%x: tensor<f32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "a"}, tensor<f32> {mtc.name = "b"}) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{--loss output: no output is a floating-point scalar; the outputs are: 'y' tensor<4xf32>}}
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}

//--- no_scalar.mlir
// expected-error @below {{--loss output: output 'logits' is tensor<4x3xf32>; expected a floating-point scalar. Choose another with --output, or its loss with --loss}}
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf32>
}

//--- no_labels.mlir
// expected-error @below {{--labels: the graph has no input 'target'; the loss is output 'loss', which has no labels}}
func.func @forward(%x: tensor<f32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "loss"}) {
  return %x : tensor<f32>
}

//--- cross_entropy.mlir
// expected-error @below {{--loss cross-entropy: expected an output of at least two dimensions, [batch, classes], but output 'y' is tensor<4xf32>; choose another with --output or another loss}}
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{--loss cross-entropy: expected labels of the output's shape without its class axis, the last or axis 1, but output 'y' is tensor<4x3x8xf32> and the labels 'labels' are tensor<4x4xi64>; choose another with --output, other labels with --labels, or another loss}}
func.func @forward(%x: tensor<4x3x8xf32> {mtc.name = "x"}, %l: tensor<4x4xi64> {mtc.name = "labels"}) -> (tensor<4x3x8xf32> {mtc.name = "y"}) {
  return %x : tensor<4x3x8xf32>
}

// -----

// expected-error @below {{--loss cross-entropy: expected integer labels, or probabilities of the output's shape, but output 'y' is tensor<4x3xf32> and the labels 'labels' are tensor<4xf32>}}
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}, %l: tensor<4xf32> {mtc.name = "labels"}) -> (tensor<4x3xf32> {mtc.name = "y"}) {
  return %x : tensor<4x3xf32>
}

//--- causal.mlir
// expected-error @below {{--loss causal-lm: expected an output of three dimensions, [batch, tokens, vocabulary], but output 'y' is tensor<4x3xf32>}}
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "y"}) {
  return %x : tensor<4x3xf32>
}

// -----

// expected-error @below {{--loss causal-lm: expected labels of shape [batch, tokens], but output 'y' is tensor<4x3x9xf32> and the labels 'labels' are tensor<4xi64>}}
func.func @forward(%x: tensor<4x3x9xf32> {mtc.name = "x"}, %l: tensor<4xi64> {mtc.name = "labels"}) -> (tensor<4x3x9xf32> {mtc.name = "y"}) {
  return %x : tensor<4x3x9xf32>
}

//--- mse.mlir
// expected-error @below {{--loss mse: expected labels of the output's shape, but output 'y' is tensor<4x3xf32> and the labels 'labels' are tensor<4xf32>}}
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}, %l: tensor<4xf32> {mtc.name = "labels"}) -> (tensor<4x3xf32> {mtc.name = "y"}) {
  return %x : tensor<4x3xf32>
}

// -----

// expected-error @below {{--loss mse: expected floating-point labels, but output 'y' is tensor<4xf32> and the labels 'labels' are tensor<4xi64>}}
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}, %l: tensor<4xi64> {mtc.name = "labels"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{--loss mse: expected an output with a batch dimension, but output 'y' is tensor<f32>}}
func.func @forward(%x: tensor<f32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "y"}) {
  return %x : tensor<f32>
}
