// RUN: mtc-opt %s --convert-onnx-to-mtc --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// The location of every operation is the name of its node; that of variables and reads is the name of the initializer.

// CHECK: mtc.variable {{.*}}@w {{.*}} loc("w")
// CHECK: mtc.read @w {{.*}} loc("w")
// CHECK: mtc.broadcast {{.*}} loc("/fc/Add")
// CHECK: mtc.add {{.*}} loc("/fc/Add")
// CHECK: mtc.constant {{.*}} loc("/act/Relu")
// CHECK: mtc.compare {{.*}} loc("/act/Relu")
// CHECK: mtc.select {{.*}} loc("/act/Relu")
onnx.graph @main(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = onnx.initializer "w" {role = "parameter"} : tensor<2xf32> loc("w")
  %y = onnx.node "Add" version 14 (%x, %w) {} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32> loc("/fc/Add")
  %z = onnx.node "Relu" version 14 (%y) {} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("/act/Relu")
  onnx.return %z : tensor<4x2xf32>
}
