// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK: mtc.variable parameter @fc.weight : tensor<10x64xf32> = #mtc.initializer<"fc.weight">
mtc.variable parameter @fc.weight : tensor<10x64xf32> = #mtc.initializer<"fc.weight">
// CHECK: mtc.variable constant @lost : tensor<4xf32> = #mtc.initializer<"lost", missing>
mtc.variable constant @lost : tensor<4xf32> = #mtc.initializer<"lost", missing>
// CHECK: mtc.variable gradient @fc.weight.grad : tensor<10x64xf32> = #mtc.zeros of @fc.weight
mtc.variable gradient @fc.weight.grad : tensor<10x64xf32> = #mtc.zeros of @fc.weight
// CHECK: mtc.variable average @fc.weight.ema : tensor<10x64xf32> = #mtc.as_parameter of @fc.weight
mtc.variable average @fc.weight.ema : tensor<10x64xf32> = #mtc.as_parameter of @fc.weight
// CHECK: mtc.variable optimizer @m : tensor<5xf32> = #mtc.normal<2.000000e-02 : f64> at 128
mtc.variable optimizer @m : tensor<5xf32> = #mtc.normal<2.000000e-02 : f64> at 128
// CHECK: mtc.variable frozen @base : tensor<10x64xf32> = #mtc.initializer<"base">
mtc.variable frozen @base : tensor<10x64xf32> = #mtc.initializer<"base">
// CHECK: mtc.variable parameter @down : tensor<2x64xf32> = #mtc.uniform<1.250000e-01 : f64>
mtc.variable parameter @down : tensor<2x64xf32> = #mtc.uniform<1.250000e-01 : f64>
mtc.variable parameter @up : tensor<10x2xf32> = #mtc.zeros
// CHECK: mtc.adapter @base axis 1 down @down up @up alpha 1.600000e+01
mtc.adapter @base axis 1 down @down up @up alpha 1.600000e+01
// CHECK: mtc.variable gradient transient @g : tensor<5xf32> = #mtc.zeros of @m
mtc.variable gradient transient @g : tensor<5xf32> = #mtc.zeros of @m
// CHECK: mtc.variable scalar @step : tensor<i64> = #mtc.scalar<step>
mtc.variable scalar @step : tensor<i64> = #mtc.scalar<step>

// CHECK: mtc.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
mtc.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
// CHECK: mtc.buffer "mask" = dense<[true, false]> : tensor<2xi1>
mtc.buffer "mask" = dense<[true, false]> : tensor<2xi1>

// CHECK-LABEL: func.func @uses
func.func @uses() {
  // CHECK: mtc.read @fc.weight : tensor<10x64xf32>
  %w = mtc.read @fc.weight : tensor<10x64xf32>
  // CHECK: mtc.write @fc.weight, %{{.*}} : tensor<10x64xf32>
  mtc.write @fc.weight, %w : tensor<10x64xf32>
  // Tensors of 640 elements fill multiples of 64 bytes. A tensor of 5 elements occupies 64 bytes, like one of 16 elements.
  // CHECK: mtc.read_flat [@fc.weight, @m] : tensor<656xf32>
  %f = mtc.read_flat [@fc.weight, @m] : tensor<656xf32>
  // CHECK: mtc.write_flat [@fc.weight, @m], %{{.*}} : tensor<656xf32>
  mtc.write_flat [@fc.weight, @m], %f : tensor<656xf32>
  return
}
