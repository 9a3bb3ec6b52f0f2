// An allocated program becomes an executable that trains: the loss decreases, and the program reads the given data.
// RUN: rm -rf %t %t.data && mtc-run %s -o %t && mkdir %t.data
// RUN: %python -c "import numpy; numpy.save('%t.data/x.npy', numpy.array([[5, 6, 7], [5, 6, 7]], dtype=numpy.float32))"
// RUN: %t --data x=%t.data/x.npy --steps 2 --metrics %t.data/metrics --no-shuffle | FileCheck %s
// RUN: FileCheck --check-prefix METRICS --input-file %t.data/metrics %s

// CHECK: loss 96
// METRICS: "loss":96.0
// METRICS: "loss":95.616

mtc.arena size 1024 live 1024
mtc.variable parameter @w : tensor<3xf32> = dense<[1.0, 2.0, 3.0]> : tensor<3xf32> at 0
mtc.variable gradient @w.grad : tensor<3xf32> = #mtc.zeros of @w at 64
mtc.variable scalar @mtc.learning_rate : tensor<f64> = #mtc.scalar<learning_rate> at 128
mtc.kernel_function @gradient [2, 3] reduce [0] -> [tensor<3xf32>] {
^body(%a: tensor<2x3xf32>, %w: tensor<3xf32>, %old: tensor<3xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x3xf32> -> f32
  %v = mtc.kernel.load %w at affine_map<(d0, d1) -> (d1)> : tensor<3xf32> -> f32
  %o = mtc.kernel.load %old at affine_map<(d0, d1) -> (d1)> : tensor<3xf32> -> f32
  %d = arith.subf %v, %x : f32
  %s = mtc.kernel.reduce add %d : f32
  %n = arith.addf %s, %o : f32
  mtc.kernel.yield %n at [affine_map<(d0, d1) -> (d1)>] : f32
}
mtc.kernel_function @loss [2, 3] reduce [0, 1] -> [tensor<f32>] {
^body(%a: tensor<2x3xf32>, %w: tensor<3xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x3xf32> -> f32
  %v = mtc.kernel.load %w at affine_map<(d0, d1) -> (d1)> : tensor<3xf32> -> f32
  %d = arith.subf %v, %x : f32
  %q = arith.mulf %d, %d : f32
  %s = mtc.kernel.reduce add %q : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> ()>] : f32
}
mtc.kernel_function @sgd [3] -> [tensor<3xf32>, tensor<3xf32>] {
^body(%w: tensor<3xf32>, %g: tensor<3xf32>, %lr: tensor<f64>):
  %v = mtc.kernel.load %w at affine_map<(d0) -> (d0)> : tensor<3xf32> -> f32
  %d = mtc.kernel.load %g at affine_map<(d0) -> (d0)> : tensor<3xf32> -> f32
  %rate = mtc.kernel.load %lr at affine_map<(d0) -> ()> : tensor<f64> -> f64
  %l = arith.truncf %rate : f64 to f32
  %zero = arith.constant 0.0 : f32
  %s = arith.mulf %d, %l : f32
  %n = arith.subf %v, %s : f32
  mtc.kernel.yield %n, %zero at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : f32, f32
}
mtc.step @micro_step reads ["x"] [#mtc.at<192, tensor<2x3xf32>>] gives ["mtc.loss"] [#mtc.at<256, tensor<f32>>] {
  mtc.launch @loss [#mtc.at<192, tensor<2x3xf32>>, #mtc.at<0, tensor<3xf32>>] into [#mtc.at<256, tensor<f32>>] loc("/loss")
  mtc.launch @gradient [#mtc.at<192, tensor<2x3xf32>>, #mtc.at<0, tensor<3xf32>>, #mtc.at<64, tensor<3xf32>>] into [#mtc.at<64, tensor<3xf32>>] loc("/grad")
}
mtc.step @update reads [] [] gives [] [] {
  mtc.launch @sgd [#mtc.at<0, tensor<3xf32>>, #mtc.at<64, tensor<3xf32>>, #mtc.at<128, tensor<f64>>] into [#mtc.at<0, tensor<3xf32>>, #mtc.at<64, tensor<3xf32>>]
}
mtc.step @evaluate reads ["x"] [#mtc.at<192, tensor<2x3xf32>>] gives ["mtc.loss"] [#mtc.at<256, tensor<f32>>] {
  mtc.launch @loss [#mtc.at<192, tensor<2x3xf32>>, #mtc.at<0, tensor<3xf32>>] into [#mtc.at<256, tensor<f32>>] loc("/loss")
}
