// RUN: mtc-opt %s -split-input-file | mtc-opt -split-input-file | FileCheck %s

// CHECK: mtc.program "digits" stage training from <file = "/models/digits.onnx", digest = "0f", merged = split, train = ["fc.*"]>
// CHECK-SAME: batch 32 loss "cross-entropy" optimizer "adamw" schedule <cosine, rate = 1.000000e-03 : f64, warmup = 100> {
mtc.program "digits" stage training from <file = "/models/digits.onnx", digest = "0f", merged = split, train = ["fc.*"]>
    batch 32 loss "cross-entropy" optimizer "adamw" schedule <cosine, rate = 1.000000e-03 : f64, warmup = 100> {
  // CHECK-NEXT: mtc.input "ids" axis "batch" rows indices <minimum = -8, limit = 8, ignored = -8, reader = "/embedding">
  mtc.input "ids" axis "batch" rows indices <minimum = -8, limit = 8, ignored = -8, reader = "/embedding">
  // CHECK-NEXT: mtc.input "labels" rows label shifted_from "ids"
  mtc.input "labels" rows label shifted_from "ids"
  // CHECK-NEXT: mtc.input "mask"
  mtc.input "mask"
}

// CHECK: func.func @micro_step(%{{.*}}: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.differentiated, mtc.name = "mtc.loss"})
// CHECK-SAME: attributes {mtc.attention = #mtc.attention_report<fused = 1, decomposed = ["why"]>}
func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.differentiated, mtc.name = "mtc.loss"})
    attributes {mtc.attention = #mtc.attention_report<fused = 1, decomposed = ["why"]>} {
  // CHECK: mtc.neg %{{.*}} {mtc.recomputed}
  %y = mtc.neg %x {mtc.recomputed} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK: mtc.program "model" stage onnx {
// CHECK-NEXT: }
mtc.program "model" stage onnx {
}
