// RUN: mtc-opt %s --mtc-allocate | FileCheck %s

// The softmax of a row overwrites its operand, although the operand has another shape. A softmax that reads another element does not.
// CHECK-LABEL: mtc.step @f
// CHECK: mtc.launch @{{.*}} into [#mtc.at<[[A:[0-9]+]], tensor<4x8x16xf32>>]
// CHECK: mtc.launch @{{.*}} [#mtc.at<[[A]], tensor<4x8x16xf32>>] into [#mtc.at<[[A]], tensor<32x16xf32>>]
// CHECK: mtc.launch @{{.*}} [#mtc.at<[[A]], tensor<32x16xf32>>] into [#mtc.at<[[B:[0-9]+]], tensor<32x16xf32>>]
func.func @f(%x: tensor<4x8x16xf32> {mtc.name = "x"}) -> (tensor<32x16xf32> {mtc.name = "y"}) {
  %a = mtc.kernel [4, 8, 16](%x) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  ^bb0(%p: tensor<4x8x16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x8x16xf32> -> f32
    %n = arith.negf %v : f32
    mtc.kernel.yield %n at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
  }
  %s = mtc.kernel [32, 16] reduce [1](%a) : (tensor<4x8x16xf32>) -> tensor<32x16xf32> {
  ^bb0(%p: tensor<4x8x16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0 floordiv 8, d0 mod 8, d1)> : tensor<4x8x16xf32> -> f32
    %m = mtc.kernel.reduce max %v : f32
    %c = arith.subf %v, %m : f32
    mtc.kernel.yield %c at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  %r = mtc.kernel [32, 16](%s) : (tensor<32x16xf32>) -> tensor<32x16xf32> {
  ^bb0(%p: tensor<32x16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, 15 - d1)> : tensor<32x16xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %r : tensor<32x16xf32>
}

// An operand that a summed iteration reads under a condition may be read after others have stored the sum.
// CHECK-LABEL: mtc.step @conditional
// CHECK: mtc.launch @{{.*}} into [#mtc.at<[[A:[0-9]+]], tensor<1xf32>>]
// CHECK: mtc.launch @{{.*}} [#mtc.at<[[A]], tensor<1xf32>>, {{.*}}] into [#mtc.at<{{[0-9]+}}, tensor<2xf32>>, #mtc.at<[[B:[0-9]+]], tensor<f32>>]
// CHECK-NOT: into {{.*}}#mtc.at<[[A]], tensor<f32>>
// CHECK: }
func.func @conditional(%x: tensor<1xf32> {mtc.name = "x"}, %rate: tensor<f32> {mtc.name = "rate"})
    -> (tensor<2xf32> {mtc.name = "y"}, tensor<f32> {mtc.name = "z"}) {
  %a = mtc.kernel [1](%x) : (tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%p: tensor<1xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0) -> (d0)> : tensor<1xf32> -> f32
    %n = arith.negf %v : f32
    mtc.kernel.yield %n at [affine_map<(d0) -> (d0)>] : f32
  }
  %r:2 = mtc.kernel [2] reduce [0](%a, %rate) : (tensor<1xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {
  ^bb0(%p: tensor<1xf32>, %q: tensor<f32>):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i64
    %i = mtc.kernel.index affine_map<(d0) -> (d0)>
    %is_first = arith.cmpi slt, %i, %one : i64
    %v = mtc.kernel.load %p at affine_map<(d0) -> (d0)> if %is_first else %zero : f32 : tensor<1xf32> -> f32
    %w = mtc.kernel.load %q at affine_map<(d0) -> ()> : tensor<f32> -> f32
    %n = arith.negf %w : f32
    mtc.kernel.yield %v, %n at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] : f32, f32
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<f32>
}

// Sums by index overwrite their initial tensor; if that has later users, it is copied first.
// CHECK-LABEL: mtc.step @onto
// CHECK: mtc.launch @{{.*}} into [#mtc.at<[[A:[0-9]+]], tensor<9x4xf32>>]
// CHECK-NEXT: mtc.launch @{{.*}} [{{.*}}, #mtc.at<[[A]], tensor<9x4xf32>>] into [#mtc.at<[[A]], tensor<9x4xf32>>]
// CHECK-NEXT: mtc.copy <[[A]], tensor<9x4xf32>> into <[[B:[0-9]+]], tensor<9x4xf32>>
// CHECK-NEXT: mtc.launch @{{.*}} [{{.*}}, #mtc.at<[[A]], tensor<9x4xf32>>] into [#mtc.at<[[B]], tensor<9x4xf32>>]
func.func @onto(%u: tensor<3x4xf32> {mtc.name = "u"}, %i: tensor<3xi64> {mtc.name = "i"}, %x: tensor<9x4xf32> {mtc.name = "x"})
    -> (tensor<9x4xf32> {mtc.name = "y"}, tensor<9x4xf32> {mtc.name = "z"}) {
  %a = mtc.kernel [9, 4](%x) : (tensor<9x4xf32>) -> tensor<9x4xf32> {
  ^bb0(%p: tensor<9x4xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x4xf32> -> f32
    %n = arith.negf %v : f32
    mtc.kernel.yield %n at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  %y = mtc.kernel [3, 4] reduce [0](%u, %i, %a) : (tensor<3x4xf32>, tensor<3xi64>, tensor<9x4xf32>) -> tensor<9x4xf32> {
  ^bb0(%p: tensor<3x4xf32>, %q: tensor<3xi64>, %r: tensor<9x4xf32>):
    %k = mtc.kernel.load %q at affine_map<(d0, d1) -> (d0)> : tensor<3xi64> -> i64
    %j = mtc.kernel.check %k below 9
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x4xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] onto %r : tensor<9x4xf32> : f32
  }
  %z = mtc.kernel [3, 4] reduce [0](%u, %i, %y) : (tensor<3x4xf32>, tensor<3xi64>, tensor<9x4xf32>) -> tensor<9x4xf32> {
  ^bb0(%p: tensor<3x4xf32>, %q: tensor<3xi64>, %r: tensor<9x4xf32>):
    %k = mtc.kernel.load %q at affine_map<(d0, d1) -> (d0)> : tensor<3xi64> -> i64
    %j = mtc.kernel.check %k below 9
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x4xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] onto %r : tensor<9x4xf32> : f32
  }
  return %y, %z : tensor<9x4xf32>, tensor<9x4xf32>
}

// Two results do not overwrite one operand, although the first one has no users.
// CHECK-LABEL: mtc.step @two
// CHECK: mtc.launch @{{.*}} into [#mtc.at<[[A:[0-9]+]], tensor<16xf32>>]
// CHECK: mtc.launch @{{.*}} [#mtc.at<[[A]], tensor<16xf32>>] into [#mtc.at<[[A]], tensor<16xf32>>, #mtc.at<[[B:[0-9]+]], tensor<16xf32>>] until [1, 2]
// CHECK-NOT: #mtc.at<[[A]]
// CHECK: }
func.func @two(%x: tensor<16xf32> {mtc.name = "x"}) -> (tensor<16xf32> {mtc.name = "y"}) {
  %a = mtc.kernel [16](%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %n = arith.negf %v : f32
    mtc.kernel.yield %n at [affine_map<(d0) -> (d0)>] : f32
  }
  %r:2 = mtc.kernel [16](%a) : (tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%p: tensor<16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %n = arith.negf %v : f32
    %s = arith.addf %v, %v : f32
    mtc.kernel.yield %n, %s at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : f32, f32
  }
  return %r#1 : tensor<16xf32>
}

// In a tile of one sample, the index of the result depends on the unit dimension, but that of the operand does not.
// CHECK-LABEL: mtc.step @sample
// CHECK: mtc.launch @{{.*}} into [#mtc.at<[[A:[0-9]+]], tensor<8x16xf32>>]
// CHECK: mtc.launch @{{.*}} [#mtc.at<[[A]], tensor<8x16xf32>>] into [#mtc.at<[[A]], tensor<1x8x16xf32>>]
func.func @sample(%x: tensor<8x16xf32> {mtc.name = "x"}) -> (tensor<1x8x16xf32> {mtc.name = "y"}) {
  %a = mtc.kernel [8, 16](%x) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
  ^bb0(%p: tensor<8x16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x16xf32> -> f32
    %n = arith.negf %v : f32
    mtc.kernel.yield %n at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  %s = mtc.kernel [1, 8, 16] reduce [2](%a) : (tensor<8x16xf32>) -> tensor<1x8x16xf32> {
  ^bb0(%p: tensor<8x16xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<8x16xf32> -> f32
    %m = mtc.kernel.reduce max %v : f32
    %c = arith.subf %v, %m : f32
    mtc.kernel.yield %c at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
  }
  return %s : tensor<1x8x16xf32>
}
