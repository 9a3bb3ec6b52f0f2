onnx.graph @main(%x: tensor<1x3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<1x3xf32> {
  %y, %rm, %rv = onnx.node "BatchNormalization" version 15 (%x, %g, %b, %m, %v) {training_mode = 1 : si64} : (tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>)
  onnx.return %y : tensor<1x3xf32>
}
