// Initial values follow from the operations that use a parameter.
// RUN: mtc-opt %s --mtc-initialize-parameters=init=pytorch | FileCheck %s

// The padding row of an embedding starts with zeros; a matrix that is tied to it is drawn once.
// CHECK: @embedding.weight : tensor<5x4xf32> = #mtc.normal<1.000000e+00 : f64> {mtc.zero_row = 2 : i64}
mtc.variable parameter @embedding.weight : tensor<5x4xf32> = #mtc.initializer<"embedding.weight">
// CHECK: @linear.weight : tensor<4x4xf32> = #mtc.uniform<5.000000e-01 : f64>
mtc.variable parameter @linear.weight : tensor<4x4xf32> = #mtc.initializer<"linear.weight">
// CHECK: @linear.bias : tensor<4xf32> = #mtc.uniform<5.000000e-01 : f64>
mtc.variable parameter @linear.bias : tensor<4xf32> = #mtc.initializer<"linear.bias">
// CHECK: @norm.weight : tensor<4xf32> = dense<1.000000e+00> : tensor<4xf32>
mtc.variable parameter @norm.weight : tensor<4xf32> = #mtc.initializer<"norm.weight">
// CHECK: @norm.bias : tensor<4xf32> = #mtc.zeros
mtc.variable parameter @norm.bias : tensor<4xf32> = #mtc.initializer<"norm.bias">
func.func @forward(%ids: tensor<3xi64>) -> tensor<3x5xf32> {
  %e = mtc.read @embedding.weight : tensor<5x4xf32>
  %g = mtc.gather %e, %ids axis 0 batch 0 : tensor<5x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %two = mtc.constant dense<2> : tensor<3xi64>
  %isPadding = mtc.compare eq %ids, %two : tensor<3xi64> -> tensor<3xi1>
  %mask = mtc.broadcast %isPadding axes [1] : tensor<3xi1> -> tensor<3x4xi1>
  %still = mtc.detach %g : tensor<3x4xf32>
  %x = mtc.select %mask, %still, %g : tensor<3x4xi1>, tensor<3x4xf32>
  %w = mtc.read @linear.weight : tensor<4x4xf32>
  %h = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  %b = mtc.read @linear.bias : tensor<4xf32>
  %bs = mtc.broadcast %b axes [0] : tensor<4xf32> -> tensor<3x4xf32>
  %y = mtc.add %h, %bs : tensor<3x4xf32>
  %squares = mtc.mul %y, %y : tensor<3x4xf32>
  %sum = mtc.reduce add %squares axes [1] : tensor<3x4xf32> -> tensor<3xf32>
  %eps = mtc.constant dense<1.000000e-05> : tensor<3xf32>
  %variance = mtc.add %sum, %eps : tensor<3xf32>
  %r = mtc.rsqrt %variance : tensor<3xf32>
  %rs = mtc.broadcast %r axes [1] : tensor<3xf32> -> tensor<3x4xf32>
  %n = mtc.mul %y, %rs : tensor<3x4xf32>
  %s = mtc.read @norm.weight : tensor<4xf32>
  %ss = mtc.broadcast %s axes [0] : tensor<4xf32> -> tensor<3x4xf32>
  %scaled = mtc.mul %n, %ss : tensor<3x4xf32>
  %t = mtc.read @norm.bias : tensor<4xf32>
  %ts = mtc.broadcast %t axes [0] : tensor<4xf32> -> tensor<3x4xf32>
  %z = mtc.add %scaled, %ts : tensor<3x4xf32>
  %logits = mtc.contract %z, %e batch [] x [] over [1] x [1] : tensor<3x4xf32>, tensor<5x4xf32> -> tensor<3x5xf32>
  return %logits : tensor<3x5xf32>
}
