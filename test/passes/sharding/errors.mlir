// RUN: mtc-opt %s -split-input-file -mtc-shard -verify-diagnostics

mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @mean : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<4xf32>) {
  %old = mtc.read @mean : tensor<4xf32>
  %new = mtc.add %old, %x : tensor<4xf32> loc("Norm")
  mtc.write @mean, %new : tensor<4xf32>
  %scaled = mtc.mul %new, %x : tensor<4xf32> loc("Scale")
  // expected-error @below {{--ranks 2: node 'Scale' reads 'mean' for a gradient or the loss, but node 'Norm' updates 'mean' from the micro-batches of all ranks; use --batch-norm frozen for running statistics, or compile without --ranks}}
  mtc.write @w.grad, %scaled : tensor<4xf32>
  return
}
func.func @update() {
  return
}

// -----

// expected-error @below {{the module has no functions @micro_step and @update; run mtc-optimizer first}}
module {
  mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
}

// -----

// Random numbers depend on the micro-batch.
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable scalar @mtc.seed : tensor<i64> = #mtc.scalar<seed>
mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
mtc.variable state @u : tensor<3xi32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3xf32> = #mtc.zeros

func.func @micro_step() {
  %seed = mtc.read @mtc.seed : tensor<i64>
  %step = mtc.read @mtc.step : tensor<i64>
  %old = mtc.read @u : tensor<3xi32>
  %bits = mtc.random_bits %seed, %step stream 3 : (tensor<i64>, tensor<i64>) -> tensor<3xi32>
  %new = mtc.xor %old, %bits : tensor<3xi32>
  mtc.write @u, %new : tensor<3xi32>
  %g = mtc.cast %new : tensor<3xi32> -> tensor<3xf32>
  // expected-error @below {{--ranks 2: an operation reads 'u' for a gradient or the loss, but an operation updates 'u'}}
  mtc.write @w.grad, %g : tensor<3xf32>
  return
}
func.func @update() {
  return
}
