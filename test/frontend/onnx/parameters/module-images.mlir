// The module stores parameters in another layout than the file: the operand of a matrix multiplication is transposed, and a vector is
// unchanged. The layout of other parameters, and of parameters without a name, is unknown. Parameters with the file's names and layouts
// need no image.
// RUN: mtc-opt %s --onnx-choose-parameters --split-input-file | FileCheck %s

// CHECK: onnx.initializer "fc.weight" {reason
// CHECK: onnx.initializer "onnx::MatMul_1" {module_images = [#mtc.tensor_image<"head.weight", shape = [4, 3], parts = [<variable = 0, image = 0, extents = [4, 3], variable_strides = [1, 4], image_strides = [3, 1]>]>], module_name = "head.weight"
// CHECK: onnx.initializer "onnx::Add_2" {module_images = [], reason
// CHECK: onnx.initializer "given" {module_images = [#mtc.tensor_image<"named", shape = [3]>], reason
onnx.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>) {
  %w = onnx.initializer "fc.weight" : tensor<3x3xf32>
  %h = onnx.initializer "onnx::MatMul_1" : tensor<3x4xf32>
  %a = onnx.initializer "onnx::Add_2" : tensor<2x3xf32>
  %g = onnx.initializer "given" {module_images = [#mtc.tensor_image<"named", shape = [3]>]} : tensor<3xf32>
  %0 = onnx.node "MatMul" version 13 (%x, %w) {} {onnx.index = 0 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %1 = onnx.node "Add" version 14 (%0, %a) {} {onnx.index = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.node "Add" version 14 (%1, %g) {} {onnx.index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = onnx.node "MatMul" version 13 (%2, %h) {} {onnx.index = 3 : i64, onnx.module = "head"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  onnx.return %3 : tensor<2x4xf32>
}

// -----

// A parameter has additional names in the module: that of the layer which uses it, if the file lists this name, and an unused one.

// CHECK: onnx.initializer "lm_head.weight" {module_images = [#mtc.tensor_image<"lm_head.weight", shape = [5, 3]>, #mtc.tensor_image<"wte.weight", shape = [5, 3]>]
// CHECK: onnx.initializer "cls.decoder.bias" {module_images = [#mtc.tensor_image<"cls.decoder.bias", shape = [3]>, #mtc.tensor_image<"cls.bias", shape = [3]>]
// CHECK: onnx.initializer "other.weight" {reason
onnx.graph @main(%x: tensor<2xi64>) -> (tensor<2x3xf32>)
    attributes {onnx.producer = "pytorch", onnx.signature = ["wte.weight", "lm_head.weight", "cls.bias", "cls.decoder.bias", "other.weight"]} {
  %w = onnx.initializer "lm_head.weight" : tensor<5x3xf32>
  %b = onnx.initializer "cls.decoder.bias" : tensor<3xf32>
  %o = onnx.initializer "other.weight" : tensor<3x3xf32>
  %0 = onnx.node "Gather" version 13 (%w, %x) {axis = 0 : si64} {onnx.index = 0 : i64, onnx.module = "wte"} : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = onnx.node "Add" version 14 (%0, %b) {} {onnx.index = 1 : i64, onnx.module = "cls.decoder"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = onnx.node "MatMul" version 13 (%1, %o) {} {onnx.index = 2 : i64, onnx.module = "unlisted"} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  onnx.return %2 : tensor<2x3xf32>
}

// -----

// The GRU has two directions. Its gates z, r, h are r, z, n in the module, and its second node is the second layer of the module.

// CHECK: onnx.initializer "onnx::GRU_1" {module_images = [#mtc.tensor_image<"rnn.weight_ih_l0", shape = [6, 3], parts = [<variable = 6, image = 0, extents = [6], variable_strides = [1], image_strides = [1]>, <variable = 0, image = 6, extents = [6], variable_strides = [1], image_strides = [1]>, <variable = 12, image = 12, extents = [6], variable_strides = [1], image_strides = [1]>]>, #mtc.tensor_image<"rnn.weight_ih_l0_reverse", shape = [6, 3], parts = [<variable = 24, image = 0, {{.*}}>]>]
// CHECK: onnx.initializer "onnx::GRU_2" {module_images = [#mtc.tensor_image<"rnn.weight_hh_l0", shape = [6, 2], {{.*}}#mtc.tensor_image<"rnn.weight_hh_l0_reverse", shape = [6, 2]
// CHECK: onnx.initializer "onnx::GRU_3" {module_images = [#mtc.tensor_image<"rnn.bias_ih_l0", shape = [6], parts = [<variable = 2, image = 0, extents = [2], {{.*}}#mtc.tensor_image<"rnn.bias_hh_l0", shape = [6], parts = [<variable = 8, image = 0, {{.*}}#mtc.tensor_image<"rnn.bias_ih_l0_reverse", shape = [6], parts = [<variable = 14, image = 0, {{.*}}#mtc.tensor_image<"rnn.bias_hh_l0_reverse"
// CHECK: onnx.initializer "onnx::GRU_4" {module_images = [#mtc.tensor_image<"rnn.weight_ih_l1", shape = [6, 4]
onnx.graph @main(%x: tensor<5x2x3xf32>) -> (tensor<*xindex>) attributes {onnx.producer = "pytorch"} {
  %none = onnx.none
  %w = onnx.initializer "onnx::GRU_1" : tensor<2x6x3xf32>
  %r = onnx.initializer "onnx::GRU_2" : tensor<2x6x2xf32>
  %b = onnx.initializer "onnx::GRU_3" : tensor<2x12xf32>
  %v = onnx.initializer "onnx::GRU_4" : tensor<1x6x4xf32>
  %s = onnx.initializer "onnx::GRU_5" : tensor<1x6x2xf32>
  %0 = onnx.node "GRU" version 14 (%x, %w, %r, %b) {direction = "bidirectional", hidden_size = 2 : si64} {onnx.index = 0 : i64, onnx.module = "rnn"}
      : (tensor<5x2x3xf32>, tensor<2x6x3xf32>, tensor<2x6x2xf32>, tensor<2x12xf32>) -> tensor<*xindex>
  %1 = onnx.node "GRU" version 14 (%0, %v, %s) {hidden_size = 2 : si64} {onnx.index = 1 : i64, onnx.module = "rnn"}
      : (tensor<*xindex>, tensor<1x6x4xf32>, tensor<1x6x2xf32>) -> tensor<*xindex>
  onnx.return %1 : tensor<*xindex>
}

// -----

// PyTorch counts the batches that a normalization has processed.

// CHECK: onnx.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
// CHECK: onnx.initializer "bn.running_mean"
// CHECK-NOT: onnx.buffer
onnx.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) attributes {onnx.producer = "pytorch"} {
  %w = onnx.initializer "bn.weight" : tensor<3xf32>
  %m = onnx.initializer "bn.running_mean" : tensor<3xf32>
  %v = onnx.initializer "bn.running_var" : tensor<3xf32>
  %0:3 = onnx.node "BatchNormalization" version 15 (%x, %w, %w, %m, %v) {training_mode = 1 : si64} {onnx.index = 0 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  onnx.return %0#0 : tensor<2x3xf32>
}

// -----

// Tied copies with names of the module keep them, in their own layout.

// CHECK: onnx.initializer "wte.weight" {
// CHECK-SAME: module_images = [#mtc.tensor_image<"wte.weight", shape = [5, 3]>, #mtc.tensor_image<"lm_head.weight", shape = [3, 5], parts = [<variable = 0, image = 0, extents = [3, 5], variable_strides = [1, 3], image_strides = [5, 1]>]>]
onnx.graph @main(%x: tensor<2xi64>) -> (tensor<2x5xf32>)
    attributes {onnx.producer = "pytorch", onnx.signature = ["wte.weight", "lm_head.weight"]} {
  %w = onnx.initializer "wte.weight" {file_images = [
    #mtc.tensor_image<"lm_head.weight", shape = [3, 5], parts = [<variable = 0, image = 0, extents = [3, 5], variable_strides = [1, 3], image_strides = [5, 1]>]>,
    #mtc.tensor_image<"val_7", shape = [5, 3]>]} : tensor<5x3xf32>
  %0 = onnx.node "Gather" version 13 (%w, %x) {axis = 0 : si64} {onnx.index = 0 : i64, onnx.module = "wte"} : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %t = onnx.node "Transpose" version 13 (%w) {perm = array<i64: 1, 0>} : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %1 = onnx.node "MatMul" version 13 (%0, %t) {} {onnx.index = 1 : i64, onnx.module = "lm_head"} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  onnx.return %1 : tensor<2x5xf32>
}

// -----

// Tensors without elements are buffers of the module, under all of their names.

// CHECK: onnx.buffer "none.weight" = dense<> : tensor<0x3xf32>
// CHECK-NEXT: onnx.initializer "onnx::MatMul_1" {module_name = "none.weight"
// CHECK: onnx.buffer "none.bias" = dense<> : tensor<0xf16>
// CHECK-NEXT: onnx.initializer "none.bias" {reason
onnx.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x0xf32>, tensor<0xf16>) {
  %w = onnx.initializer "onnx::MatMul_1" : tensor<3x0xf32>
  %b = onnx.initializer "none.bias" : tensor<0xf16>
  %0 = onnx.node "MatMul" version 13 (%x, %w) {} {onnx.index = 0 : i64, onnx.module = "none"} : (tensor<2x3xf32>, tensor<3x0xf32>) -> tensor<2x0xf32>
  %1 = onnx.node "Neg" version 13 (%b) {} {onnx.index = 1 : i64, onnx.module = "none"} : (tensor<0xf16>) -> tensor<0xf16>
  onnx.return %0, %1 : tensor<2x0xf32>, tensor<0xf16>
}
