// RUN: mtc-opt %s -split-input-file | mtc-opt -split-input-file | FileCheck %s

// CHECK: mtc.program "digits" stage training from <file = "/models/digits.onnx", digest = "0f", merged = split, train = ["fc.*"]>
// CHECK-SAME: batch 32 loss "cross-entropy" optimizer "adamw" schedule <cosine, rate = 1.000000e-03 : f64, warmup = 100> {
mtc.program "digits" stage training from <file = "/models/digits.onnx", digest = "0f", merged = split, train = ["fc.*"]>
    batch 32 loss "cross-entropy" optimizer "adamw" schedule <cosine, rate = 1.000000e-03 : f64, warmup = 100> {
  // CHECK-NEXT: mtc.input "ids" axis "batch" rows indices <minimum = -8, limit = 8, ignored = -8, user = "/embedding">
  mtc.input "ids" axis "batch" rows indices <minimum = -8, limit = 8, ignored = -8, user = "/embedding">
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

// -----

// CHECK: mtc.program "wsd" stage training schedule <wsd, rate = 1.000000e-03 : f64, min_rate = 1.000000e-05 : f64, warmup = 10, decay = 20> {
mtc.program "wsd" stage training schedule <wsd, rate = 1.0e-3 : f64, min_rate = 1.0e-5 : f64, warmup = 10, decay = 20> {}

// -----

// CHECK: mtc.program "root" stage training schedule <"inverse-sqrt", rate = 1.000000e-03 : f64> {
mtc.program "root" stage training schedule <"inverse-sqrt", rate = 1.0e-3 : f64> {}

// -----

// CHECK: mtc.program "points" stage training schedule <table, rate = 5.000000e-01 : f64, steps = [1, 8], rates = [5.000000e-01, 2.500000e-01]> {
mtc.program "points" stage training schedule <table, rate = 0.5 : f64, steps = [1, 8], rates = [0.5, 0.25]> {}

// -----

// CHECK: mtc.program "parts" stage training batch 8 loss "mse" accumulation <micro_steps = 4> optimizer "sgd" {
mtc.program "parts" stage training batch 8 loss "mse" accumulation <micro_steps = 4> optimizer "sgd" {}

// -----

// CHECK: mtc.program "counted" stage training loss "cross-entropy" accumulation <micro_steps = 2, targets = 256> {
mtc.program "counted" stage training loss "cross-entropy" accumulation <micro_steps = 2, targets = 256> {}

// -----

// CHECK: mtc.program "tokens" stage training batch 4
// CHECK-SAME: shapes [#mtc.shape<batch = 4, dims = {sequence = 16 : i64}>, #mtc.shape<batch = 4, dims = {sequence = 8 : i64}>]
mtc.program "tokens" stage training batch 4 shapes [#mtc.shape<batch = 4, dims = {sequence = 16 : i64}>, #mtc.shape<batch = 4, dims = {sequence = 8 : i64}>] {}
