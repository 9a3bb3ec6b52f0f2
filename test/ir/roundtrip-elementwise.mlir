// One operation of each form of ElementwiseOps.td.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4xf32>, %n: tensor<4xi32>, %c: tensor<4xi1>) -> tensor<4xf32> {
  // CHECK: mtc.exp %{{.*}} : tensor<4xf32>
  %a = mtc.exp %x : tensor<4xf32>
  // CHECK: mtc.abs %{{.*}} : tensor<4xi32>
  %b = mtc.abs %n : tensor<4xi32>
  // CHECK: mtc.not %{{.*}} : tensor<4xi1>
  %d = mtc.not %c : tensor<4xi1>
  // CHECK: mtc.is_nan %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %e = mtc.is_nan %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: mtc.cast %{{.*}} : tensor<4xi32> -> tensor<4xf32>
  %f = mtc.cast %b : tensor<4xi32> -> tensor<4xf32>
  // CHECK: mtc.detach %{{.*}} : tensor<4xf32>
  %g = mtc.detach %f : tensor<4xf32>
  // CHECK: mtc.add %{{.*}}, %{{.*}} : tensor<4xf32>
  %h = mtc.add %a, %g : tensor<4xf32>
  // CHECK: mtc.and %{{.*}}, %{{.*}} : tensor<4xi1>
  %i = mtc.and %d, %e : tensor<4xi1>
  // CHECK: mtc.compare lt %{{.*}}, %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %j = mtc.compare lt %a, %h : tensor<4xf32> -> tensor<4xi1>
  %k = mtc.or %i, %j : tensor<4xi1>
  // CHECK: mtc.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %l = mtc.select %k, %a, %h : tensor<4xi1>, tensor<4xf32>
  // CHECK: mtc.select_by_mode training %{{.*}} inference %{{.*}} : tensor<4xf32>
  %m = mtc.select_by_mode training %l inference %a : tensor<4xf32>
  return %m : tensor<4xf32>
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4xui8>, %n: tensor<4xi64>) -> (tensor<4xui8>, tensor<4xi64>) {
  // CHECK: mtc.shift_left %{{.*}}, %{{.*}} : tensor<4xui8>
  %a = mtc.shift_left %x, %x : tensor<4xui8>
  // CHECK: mtc.shift_right %{{.*}}, %{{.*}} : tensor<4xui8>
  %b = mtc.shift_right %a, %x : tensor<4xui8>
  // CHECK: mtc.xor %{{.*}}, %{{.*}} : tensor<4xi64>
  %c = mtc.xor %n, %n : tensor<4xi64>
  // CHECK: mtc.not %{{.*}} : tensor<4xi64>
  %d = mtc.not %c : tensor<4xi64>
  return %b, %d : tensor<4xui8>, tensor<4xi64>
}
