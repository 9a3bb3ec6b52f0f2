// RUN: mtc-opt %s -split-input-file -mtc-shard -verify-diagnostics

mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 2> {}
mtc.variable state @mean : tensor<4xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<4xf32>) {
  // expected-error @below {{--ranks 2: training updates 'mean', a running statistic, from the samples of one rank; use --batch-norm frozen}}
  mtc.write @mean, %x : tensor<4xf32>
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
