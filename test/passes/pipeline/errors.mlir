// RUN: mtc-opt --split-input-file --verify-diagnostics --mtc-cut-stages %s

// An update with one micro-step has nothing to overlap.
// expected-error @+1 {{--pipeline 2: stages work on different micro-steps at a time, but an update has only one; use --accumulate 4 or more}}
module {
  mtc.program "m" stage forward batch 4 ranks <count = 2, pipeline = 2> {
    mtc.input "x" rows
  }
  func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}) {
    return
  }
}

// -----

// expected-error @+1 {{the module has no function @micro_step; run mtc-attach-loss first}}
module {
  mtc.program "m" stage forward ranks <count = 2, pipeline = 2> accumulation <micro_steps = 4> {}
}

// -----

// A shared layer is on one stage.
// expected-error @+1 {{--pipeline 2: the model can be divided into at most 1 stages, since nodes from its beginning to its end use 'w', which one stage must have}}
module {
  mtc.program "m" stage forward batch 4 ranks <count = 2, pipeline = 2> accumulation <micro_steps = 4> {
    mtc.input "x" rows
  }
  mtc.variable parameter @w : tensor<8x8xf32> = #mtc.initializer<"w">
  func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}) -> (tensor<f32> {mtc.differentiated, mtc.name = "mtc.loss"}) {
    %w = mtc.read @w : tensor<8x8xf32>
    %a = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %b = mtc.contract %a, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %loss = mtc.reduce add %b axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
