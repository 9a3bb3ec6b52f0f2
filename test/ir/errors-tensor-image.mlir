// One violation of each constraint of TensorImage.td, and of VariableOp about images.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{a tensor image has no name (tensor_image_c1)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [#mtc.tensor_image<"", shape = [4]>]}

// -----

// expected-error @below {{tensor image 'v' has a shape that no tensor has (tensor_image_c1)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [#mtc.tensor_image<"v", shape = [-4]>]}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  // expected-error @below {{expected extents and strides of at least 1 that reach no element twice (tensor_image_c2)}}
  #mtc.tensor_image<"v", shape = [4], parts = [<variable = 0, image = 0, extents = [4], variable_strides = [1], image_strides = [0]>]>]}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  // expected-error @below {{expected extents and strides of at least 1 that reach no element twice (tensor_image_c2)}}
  #mtc.tensor_image<"v", shape = [4], parts = [<variable = 0, image = 0, extents = [2, 2], variable_strides = [2, 1], image_strides = [1, 1]>]>]}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  // expected-error @below {{tensor image 'v' has 4 elements, but its part}}
  #mtc.tensor_image<"v", shape = [4], parts = [<variable = 0, image = 1, extents = [4], variable_strides = [1], image_strides = [1]>]>]}

// -----

mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  // expected-error @below {{tensor image 'v' has 2 elements, but its parts hold more (tensor_image_c3)}}
  #mtc.tensor_image<"v", shape = [2], parts = [
    <variable = 0, image = 0, extents = [2], variable_strides = [1], image_strides = [1]>,
    <variable = 2, image = 0, extents = [2], variable_strides = [1], image_strides = [1]>]>]}

// -----

// expected-error @below {{has the image #mtc.tensor_image<"v", shape = [2, 3]>, expected one of 4 elements (variable_c6)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [#mtc.tensor_image<"v", shape = [2, 3]>]}

// -----

// expected-error @below {{which exceeds the image or covers an element twice (variable_c6)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  #mtc.tensor_image<"v", shape = [2, 2], parts = [<variable = 0, image = 0, extents = [2, 2], variable_strides = [1, 3], image_strides = [2, 1]>]>]}

// -----

// expected-error @below {{has 4 elements, but its images hold 2 (variable_c6)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  #mtc.tensor_image<"v", shape = [2], parts = [<variable = 0, image = 0, extents = [2], variable_strides = [1], image_strides = [1]>]>]}

// -----

// An image of the whole variable follows an image of its first half, which therefore belongs to no complete group.
// expected-error @below {{has 4 elements, but its images up to 'v' hold 6 (variable_c6)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {module_images = [
  #mtc.tensor_image<"h", shape = [2], parts = [<variable = 0, image = 0, extents = [2], variable_strides = [1], image_strides = [1]>]>,
  #mtc.tensor_image<"v", shape = [4]>]}

// -----

// expected-error @below {{has the file image 'v' of 8 elements, of which parts hold 4 (variable_c6)}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros {file_images = [
  #mtc.tensor_image<"v", shape = [8], parts = [<variable = 0, image = 0, extents = [4], variable_strides = [1], image_strides = [1]>]>]}
