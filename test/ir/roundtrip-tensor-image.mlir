// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// The variable has one name and a layout in the module: unchanged, transposed, or under two names.

// CHECK: mtc.variable parameter @val_1 : tensor<64x10xf32> = #mtc.initializer<"val_1"> {module_images = [#mtc.tensor_image<"fc.weight", shape = [10, 64], parts = [<variable = 0, image = 0, extents = [10, 64], variable_strides = [1, 10], image_strides = [64, 1]>]>]}
mtc.variable parameter @val_1 : tensor<64x10xf32> = #mtc.initializer<"val_1"> {module_images = [
  #mtc.tensor_image<"fc.weight", shape = [10, 64], parts = [
    <variable = 0, image = 0, extents = [10, 64], variable_strides = [1, 10], image_strides = [64, 1]>]>]}
// CHECK: mtc.variable parameter @wte : tensor<100x8xf32> = #mtc.initializer<"wte"> {file_images = [#mtc.tensor_image<"val_7", shape = [8, 100], parts = [{{.*}}]>], module_images = [#mtc.tensor_image<"wte.weight", shape = [100, 8]>, #mtc.tensor_image<"lm_head.weight", shape = [100, 8]>]}
mtc.variable parameter @wte : tensor<100x8xf32> = #mtc.initializer<"wte"> {
  module_images = [#mtc.tensor_image<"wte.weight", shape = [100, 8]>, #mtc.tensor_image<"lm_head.weight", shape = [100, 8]>],
  file_images = [#mtc.tensor_image<"val_7", shape = [8, 100], parts = [
    <variable = 0, image = 0, extents = [8, 100], variable_strides = [1, 8], image_strides = [100, 1]>]>]}

// One initializer contains two vectors, of which the second one has its halves exchanged.

// CHECK: mtc.variable parameter @B : tensor<1x8xf32> = #mtc.zeros {module_images = [#mtc.tensor_image<"bias_ih", shape = [4], parts = [<variable = 0, image = 0, extents = [4], variable_strides = [1], image_strides = [1]>]>, #mtc.tensor_image<"bias_hh", shape = [4], parts = [<variable = 4, image = 2, extents = [2], variable_strides = [1], image_strides = [1]>, <variable = 6, image = 0, extents = [2], variable_strides = [1], image_strides = [1]>]>]}
mtc.variable parameter @B : tensor<1x8xf32> = #mtc.zeros {module_images = [
  #mtc.tensor_image<"bias_ih", shape = [4], parts = [<variable = 0, image = 0, extents = [4], variable_strides = [1], image_strides = [1]>]>,
  #mtc.tensor_image<"bias_hh", shape = [4], parts = [
    <variable = 4, image = 2, extents = [2], variable_strides = [1], image_strides = [1]>,
    <variable = 6, image = 0, extents = [2], variable_strides = [1], image_strides = [1]>]>]}

// The images are a number, an unknown name, and halves of one matrix of the module.

// CHECK: mtc.variable state @count : tensor<f32> = #mtc.zeros {module_images = [#mtc.tensor_image<"bn.count", shape = []>]}
mtc.variable state @count : tensor<f32> = #mtc.zeros {module_images = [#mtc.tensor_image<"bn.count", shape = []>]}
// CHECK: mtc.variable frozen @val_3 : tensor<2xf32> = #mtc.zeros {module_images = []}
mtc.variable frozen @val_3 : tensor<2xf32> = #mtc.zeros {module_images = []}
// CHECK: mtc.variable parameter @q : tensor<2x2xf32> = #mtc.zeros {module_images = [#mtc.tensor_image<"in_proj", shape = [4, 2], parts = [<variable = 0, image = 0, extents = [4], variable_strides = [1], image_strides = [1]>]>]}
mtc.variable parameter @q : tensor<2x2xf32> = #mtc.zeros {module_images = [
  #mtc.tensor_image<"in_proj", shape = [4, 2], parts = [<variable = 0, image = 0, extents = [4], variable_strides = [1], image_strides = [1]>]>]}
// CHECK: mtc.variable parameter @k
mtc.variable parameter @k : tensor<2x2xf32> = #mtc.zeros {module_images = [
  #mtc.tensor_image<"in_proj", shape = [4, 2], parts = [<variable = 0, image = 4, extents = [4], variable_strides = [1], image_strides = [1]>]>]}
