// RUN: mtc-opt %s -split-input-file -mtc-shard -verify-diagnostics

mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @mean : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<4xf32>) {
  %old = mtc.read @mean : tensor<4xf32>
  %new = mtc.add %old, %x : tensor<4xf32>
  mtc.write @mean, %new : tensor<4xf32>
  // expected-error @below {{--ranks 2: a gradient or the loss depends on 'mean', state that the micro-batches of all ranks update; use --batch-norm frozen for running statistics, or one rank}}
  mtc.write @w.grad, %new : tensor<4xf32>
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
