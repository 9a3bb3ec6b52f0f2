// RUN: mtc-opt %s --mtc-allocate | FileCheck %s

// A transient variable is stored after the arena of the other functions, which has 64 bytes for @w, 64 bytes for the input, and the values
// of @train. In @gradients, both gradients are live at once.
// CHECK: mtc.arena size 192 live 192 {data_bytes = 64 : i64, floor = 128 : i64, peak_at = #{{.*}}, separate = 256 : i64
// CHECK-DAG: mtc.variable gradient transient @w.grad : tensor<16xf32> = #mtc.zeros of @w at 128
// CHECK-DAG: mtc.variable gradient transient @v.grad : tensor<16xf32> = #mtc.zeros of @w at 192
// CHECK-LABEL: mtc.step @train
// CHECK: mtc.launch {{.*}}into [#mtc.at<128, tensor<16xf32>>]
// CHECK: mtc.launch {{.*}}into [#mtc.at<0, tensor<16xf32>>]
// CHECK-LABEL: mtc.step @gradients
// CHECK: mtc.launch {{.*}}into [#mtc.at<128, tensor<16xf32>>]
// CHECK-NEXT: mtc.launch {{.*}}into [#mtc.at<192, tensor<16xf32>>]
// CHECK-NOT: mtc.copy
mtc.variable parameter @w : tensor<16xf32> = #mtc.zeros
mtc.variable gradient transient @w.grad : tensor<16xf32> = #mtc.zeros of @w
mtc.variable gradient transient @v.grad : tensor<16xf32> = #mtc.zeros of @w
func.func @train(%x: tensor<16xf32> {mtc.name = "x"}) {
  %w = mtc.read @w : tensor<16xf32>
  %g = mtc.kernel [16](%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (15 - d0)> : tensor<16xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
  }
  %n = mtc.kernel [16](%w, %g) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %u = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %s = arith.subf %v, %u : f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  mtc.write @w, %n : tensor<16xf32>
  return
}
func.func @gradients(%x: tensor<16xf32> {mtc.name = "x"}) {
  %g = mtc.kernel [16](%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (15 - d0)> : tensor<16xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
  }
  mtc.write @w.grad, %g : tensor<16xf32>
  %h = mtc.kernel [16](%g) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %n = arith.negf %v : f32
    mtc.kernel.yield %n at [affine_map<(d0) -> (d0)>] : f32
  }
  mtc.write @v.grad, %h : tensor<16xf32>
  return
}
