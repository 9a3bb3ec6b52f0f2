// Recurrent networks.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @lstm
// CHECK: onnx.node "LSTM"
// CHECK-SAME: -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>){{$}}
onnx.graph @lstm(%a: tensor<5x2x3xf32>, %b: tensor<2x16x3xf32>, %c: tensor<2x16x4xf32>, %d: tensor<2x32xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1, %r2 = onnx.node "LSTM" version 14 (%a, %b, %c, %d) {hidden_size = 4 : si64, direction = "bidirectional"} : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x4xf32>, tensor<2x32xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1, %r2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gruBatchFirst
// CHECK: onnx.node "GRU"
// CHECK-SAME: -> (tensor<2x5x1x4xf32>, tensor<2x1x4xf32>){{$}}
onnx.graph @gruBatchFirst(%a: tensor<2x5x3xf32>, %b: tensor<1x12x3xf32>, %c: tensor<1x12x4xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1 = onnx.node "GRU" version 14 (%a, %b, %c) {hidden_size = 4 : si64, layout = 1 : si64} : (tensor<2x5x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @rnn
// CHECK: onnx.node "RNN"
// CHECK-SAME: -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>){{$}}
onnx.graph @rnn(%a: tensor<5x2x3xf32>, %b: tensor<1x4x3xf32>, %c: tensor<1x4x4xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1 = onnx.node "RNN" version 14 (%a, %b, %c) {hidden_size = 4 : si64} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}
