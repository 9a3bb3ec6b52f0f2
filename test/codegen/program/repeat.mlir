// A repeat runs its operations several times on slices that move. Here it multiplies the rows of x cumulatively, and adds them,
// from the last row to the first.
// RUN: mtc-run %s | FileCheck %s
// RUN: mtc-opt %s | mtc-opt | FileCheck %s --check-prefix=TEXT

mtc.arena size 1024 live 1024

mtc.kernel_function @mul [4] -> [tensor<4xf32>] {
^body(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  %z = arith.mulf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0) -> (d0)>] : f32
}
mtc.kernel_function @add [4] -> [tensor<4xf32>] {
^body(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK: product : tensor<4xf32> = 6 48 162 384
// CHECK-NEXT: sum : tensor<4xf32> = 15 78 225 492
// CHECK-NEXT: all : tensor<3x4xf32> = 6 48 162 384 6 24 54 96 3 6 9 12
// TEXT: mtc.repeat 3 times [#mtc.at<0, tensor<3x4xf32>>, #mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>] into [#mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>, #mtc.at<192, tensor<3x4xf32>>] scratch 64 at 256 until [-1, -1, 1] {
// TEXT-NEXT: mtc.copy <32, tensor<4xf32> by -16> into <256, tensor<4xf32>> until [1]
mtc.step @main reads ["x", "product", "sum"] [#mtc.at<0, tensor<3x4xf32>>, #mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>]
    gives ["product", "sum", "all"] [#mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>, #mtc.at<192, tensor<3x4xf32>>]
    attributes {run.inputs = [dense<[[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], [3.0, 6.0, 9.0, 12.0]]> : tensor<3x4xf32>,
                              dense<1.0> : tensor<4xf32>, dense<0.0> : tensor<4xf32>]} {
  mtc.repeat 3 times [#mtc.at<0, tensor<3x4xf32>>, #mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>]
      into [#mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>, #mtc.at<192, tensor<3x4xf32>>] scratch 64 at 256 until [-1, -1, 1] {
    mtc.copy #mtc.at<32, tensor<4xf32> by -16> into #mtc.at<256, tensor<4xf32>> until [1]
    mtc.launch @mul [#mtc.at<256, tensor<4xf32>>, #mtc.at<64, tensor<4xf32>>] into [#mtc.at<64, tensor<4xf32>>] until [-1]
    mtc.launch @add [#mtc.at<64, tensor<4xf32>>, #mtc.at<128, tensor<4xf32>>] into [#mtc.at<128, tensor<4xf32>>] until [-1]
    mtc.copy #mtc.at<64, tensor<4xf32>> into #mtc.at<224, tensor<4xf32> by -16> until [-1]
  }
}
