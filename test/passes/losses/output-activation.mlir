// The loss of an output that is a softmax or a sigmoid is computed from its logits; the output itself does not change.
//
// RUN: mtc-opt %s --split-input-file --mtc-attach-loss="loss=cross-entropy" --canonicalize 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=MESSAGE --implicit-check-not=output <%t.err

// A softmax over channels is rounded to 16 bits. The classes are axis 1 in the layout of the labels.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[X:.*]] = mtc.transpose %{{.*}} [0, 2, 3, 1] : tensor<2x5x4x4xf32>
// CHECK: mtc.softmax_cross_entropy %[[X]], %{{.*}} ignore -100
// CHECK-NOT: mtc.exp
// CHECK-LABEL: func.func @evaluate
// CHECK-LABEL: func.func @outputs
// CHECK: mtc.div
// MESSAGE: remark: output 'y' is a Softmax; the loss cross-entropy is computed from its input
func.func @forward(%x: tensor<2x5x4x4xf32> {mtc.name = "x"}) -> (tensor<2x5x4x4xf16> {mtc.name = "y"}) {
  %max = mtc.reduce max %x axes [1] : tensor<2x5x4x4xf32> -> tensor<2x4x4xf32>
  %shift = mtc.broadcast %max axes [1] : tensor<2x4x4xf32> -> tensor<2x5x4x4xf32>
  %d = mtc.sub %x, %shift : tensor<2x5x4x4xf32>
  %e = mtc.exp %d : tensor<2x5x4x4xf32>
  %sum = mtc.reduce add %e axes [1] : tensor<2x5x4x4xf32> -> tensor<2x4x4xf32>
  %s = mtc.broadcast %sum axes [1] : tensor<2x4x4xf32> -> tensor<2x5x4x4xf32>
  %p = mtc.div %e, %s : tensor<2x5x4x4xf32>
  %y = mtc.cast %p : tensor<2x5x4x4xf32> -> tensor<2x5x4x4xf16>
  return %y : tensor<2x5x4x4xf16>
}

// -----

// The softmax of the first token is guarded against rows of -inf.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[X:.*]] = mtc.slice %{{.*}} offsets [0, 0, 0] strides [1, 1, 1] : tensor<2x3x5xf32> -> tensor<2x1x5xf32>
// CHECK: %[[Z:.*]] = mtc.reshape %[[X]] : tensor<2x1x5xf32> -> tensor<2x5xf32>
// CHECK: mtc.softmax_cross_entropy %[[Z]], %{{.*}} ignore -100
// MESSAGE: remark: output 'y' is a Softmax; the loss cross-entropy is computed from its input
func.func @forward(%x: tensor<2x3x5xf32> {mtc.name = "x"}) -> (tensor<2x5xf32> {mtc.name = "y"}) {
  %one = mtc.constant dense<1.0> : tensor<2x3xf32>
  %low = mtc.constant dense<0xFF800000> : tensor<2x3xf32>
  %max = mtc.reduce max %x axes [2] : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %masked = mtc.compare eq %max, %low : tensor<2x3xf32> -> tensor<2x3xi1>
  %e = mtc.exp %x : tensor<2x3x5xf32>
  %sum = mtc.reduce add %e axes [2] : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %divisor = mtc.select %masked, %one, %sum : tensor<2x3xi1>, tensor<2x3xf32>
  %s = mtc.broadcast %divisor axes [2] : tensor<2x3xf32> -> tensor<2x3x5xf32>
  %p = mtc.div %e, %s : tensor<2x3x5xf32>
  %first = mtc.slice %p offsets [0, 0, 0] strides [1, 1, 1] : tensor<2x3x5xf32> -> tensor<2x1x5xf32>
  %y = mtc.reshape %first : tensor<2x1x5xf32> -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// Normalized sigmoids are the softmax of the logarithms of the sigmoids.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[X:.*]] = mtc.sub %{{.*}}, %{{.*}} : tensor<2x5xf32>
// CHECK: mtc.softmax_cross_entropy %[[X]], %{{.*}} ignore -100
// MESSAGE: remark: output 'y' is a normalized Sigmoid; the loss cross-entropy is computed from its input
func.func @forward(%x: tensor<2x5xf32> {mtc.name = "x"}) -> (tensor<2x5xf32> {mtc.name = "y"}) {
  %p = mtc.logistic %x : tensor<2x5xf32>
  %a = mtc.abs %p : tensor<2x5xf32>
  %sum = mtc.reduce add %a axes [1] : tensor<2x5xf32> -> tensor<2xf32>
  %s = mtc.broadcast %sum axes [1] : tensor<2xf32> -> tensor<2x5xf32>
  %y = mtc.div %p, %s : tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// The axis of the softmax is divided afterwards, so that the loss normalizes other values.
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.div
// CHECK: mtc.softmax_cross_entropy
// MESSAGE: warning: output 'y' is a Softmax whose axis is sliced or reshaped, and --loss cross-entropy applies a softmax to its classes, axis 2; select the logits with --output
func.func @forward(%x: tensor<2x6xf32> {mtc.name = "x"}) -> (tensor<2x2x3xf32> {mtc.name = "y"}) {
  %e = mtc.exp %x : tensor<2x6xf32>
  %sum = mtc.reduce add %e axes [1] : tensor<2x6xf32> -> tensor<2xf32>
  %s = mtc.broadcast %sum axes [1] : tensor<2xf32> -> tensor<2x6xf32>
  %p = mtc.div %e, %s : tensor<2x6xf32>
  %y = mtc.reshape %p : tensor<2x6xf32> -> tensor<2x2x3xf32>
  return %y : tensor<2x2x3xf32>
}

// -----

// A division by another sum is not a softmax.
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.div
func.func @forward(%x: tensor<2x5xf32> {mtc.name = "x"}, %z: tensor<2x5xf32> {mtc.name = "z"})
    -> (tensor<2x5xf32> {mtc.name = "y"}) {
  %e = mtc.exp %x : tensor<2x5xf32>
  %f = mtc.exp %z : tensor<2x5xf32>
  %sum = mtc.reduce add %f axes [1] : tensor<2x5xf32> -> tensor<2xf32>
  %s = mtc.broadcast %sum axes [1] : tensor<2xf32> -> tensor<2x5xf32>
  %y = mtc.div %e, %s : tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
