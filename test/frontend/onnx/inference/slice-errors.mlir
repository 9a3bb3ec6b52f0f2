// Errors of type inference for slices, splits, concatenations and padding.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @sliceStep(%a: tensor<4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %c = onnx.constant dense<2> : tensor<1xi64> -> tensor<1xi64>
  %d = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %e = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Slice version 13: has a step of 0 along axis 0}}
  %r = onnx.node "Slice" version 13 (%a, %b, %c, %d, %e) {} : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @sliceLengths(%a: tensor<4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %c = onnx.constant dense<2> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Slice version 13: has 1 starts, 2 ends, 1 axes and 1 steps, expected equal numbers}}
  %r = onnx.node "Slice" version 13 (%a, %b, %c) {} : (tensor<4xf32>, tensor<1xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @splitEqual(%a: tensor<7xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{Split version 13: splits axis 0 of extent 7 into 2 equal parts}}
  %r0, %r1 = onnx.node "Split" version 13 (%a) {} : (tensor<7xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @splitSum(%a: tensor<7xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %b = onnx.constant dense<[3, 3]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Split version 13: splits axis 0 of extent 7 into [3, 3]}}
  %r0, %r1 = onnx.node "Split" version 13 (%a, %b) {} : (tensor<7xf32>, tensor<2xi64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @concat(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Concat version 13: operand 1 (inputs) has shape [3, 3], which does not match [2, 3] along axis 1}}
  %r = onnx.node "Concat" version 13 (%a, %b) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @padCount(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[1, 1]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Pad version 18: has 2 paddings, expected 4}}
  %r = onnx.node "Pad" version 18 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @padReflect(%a: tensor<3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[3, 0]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Pad version 18: reflects 3 elements of axis 0, which has 3}}
  %r = onnx.node "Pad" version 18 (%a, %b) {mode = "reflect"} : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @padCropsAll(%a: tensor<3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[-2, -2]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Pad version 18: crops more elements of axis 0 than its 3}}
  %r = onnx.node "Pad" version 18 (%a, %b) {} : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @tile(%a: tensor<3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[1, 1]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Tile version 13: has 2 repeats, expected 1}}
  %r = onnx.node "Tile" version 13 (%a, %b) {} : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @trilu(%a: tensor<3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Trilu version 14: operand 0 (input) has rank 1, expected 2 or more}}
  %r = onnx.node "Trilu" version 14 (%a) {} : (tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}
