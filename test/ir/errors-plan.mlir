// RUN: mtc-opt %s -split-input-file -verify-diagnostics

mtc.arena in host size 64 live 64
// expected-error @below {{'mtc.arena' op is the second arena of the space host (arena_c1)}}
mtc.arena in host size 128 live 128

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{use of undeclared SSA value name}}
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> after %unknown
}

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{copies 16 bytes into a slice of 8 (copy_c1)}}
  mtc.copy <0, tensor<4xf32>> into <64, tensor<2xf32>>
}

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{copies 16 bytes into a slice of 32 (async_copy_c1)}}
  %t = mtc.async_copy <0, tensor<4xf32>> into <64, tensor<4xf64>> stream 1
}

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{copies #mtc.at<0, tensor<32xf32>> into #mtc.at<64, tensor<32xf32>>, which overlaps it (async_copy_c1)}}
  %t = mtc.async_copy <0, tensor<32xf32>> into <64, tensor<32xf32>> stream 1
}

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{is on stream 0, expected 1 or more (async_copy_c2)}}
  %t = mtc.async_copy <0, tensor<4xf32>> into <0, tensor<4xf32>, host> stream 0
}

// -----

mtc.arena size 256 live 256
mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{has the slice #mtc.at<0, tensor<4xf32>, host>, but the arena of the space host has 0 bytes (step_c2)}}
  %t = mtc.async_copy <0, tensor<4xf32>> into <0, tensor<4xf32>, host> stream 1
}

// -----

// expected-error @below {{has the operand #mtc.at<0, tensor<4xf32>, host>, which is not on the device (step_c3)}}
mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>, host>] gives [] [] {
}

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-note @below {{the copy}}
  %t = mtc.async_copy <0, tensor<4xf32>> into <0, tensor<4xf32>, host> stream 1
  // expected-error @below {{writes #mtc.at<0, tensor<4xf32>> while a copy on stream 1 reads it; wait for the copy's token (step_c1)}}
  mtc.copy <64, tensor<4xf32>> into <0, tensor<4xf32>>
}

// -----

mtc.step @s reads [] [] gives [] [] {
  // expected-note @below {{the copy}}
  %t = mtc.async_copy <0, tensor<4xf32>, host> into <0, tensor<4xf32>> stream 1
  %u = mtc.async_copy <64, tensor<4xf32>, host> into <64, tensor<4xf32>> stream 2
  // expected-error @below {{reads #mtc.at<0, tensor<4xf32>> while a copy on stream 1 writes it; wait for the copy's token (step_c1)}}
  mtc.copy <0, tensor<4xf32>> into <128, tensor<4xf32>> after %u
}

// -----

// Earlier copies of the same stream are complete; those of another stream are not.
mtc.step @s reads [] [] gives [] [] {
  %out = mtc.async_copy <0, tensor<4xf32>> into <0, tensor<4xf32>, host> stream 1
  // expected-note @below {{the copy}}
  %same = mtc.async_copy <0, tensor<4xf32>, host> into <64, tensor<4xf32>> stream 1
  // expected-error @below {{writes #mtc.at<64, tensor<4xf32>> while a copy on stream 1 writes it; wait for the copy's token (step_c1)}}
  %other = mtc.async_copy <64, tensor<4xf32>, host> into <64, tensor<4xf32>> stream 2 after %out
}

// -----

mtc.kernel_function @k [4] -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<0, tensor<4xf32>, host>, which is not on the device (launch_c2)}}
  mtc.launch @k [#mtc.at<0, tensor<4xf32>, host>] into [#mtc.at<64, tensor<4xf32>>]
}

// -----

mtc.kernel_function @k [4] on_host -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<64, tensor<4xf32>>, but @k runs on the host, with operands in pinned host memory (launch_c2)}}
  mtc.launch @k [#mtc.at<0, tensor<4xf32>, pinned_host>] into [#mtc.at<64, tensor<4xf32>>]
}

// -----

mtc.kernel_function @k [4] on_host -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{has scratch memory, but runs on the host (launch_c2)}}
  mtc.launch @k [#mtc.at<0, tensor<4xf32>, pinned_host>] into [#mtc.at<64, tensor<4xf32>, pinned_host>] scratch 64 at 0
}

// -----

mtc.kernel_function @k [4] -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{launches @k, which does not run on the host (async_launch_c1)}}
  %t = mtc.async_launch @k [#mtc.at<0, tensor<4xf32>>] into [#mtc.at<64, tensor<4xf32>>] stream 4
}

// -----

mtc.kernel_function @k [4] on_host -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads [] [] gives [] [] {
  // expected-error @below {{is on stream 0, expected 1 or more (async_launch_c1)}}
  %t = mtc.async_launch @k [#mtc.at<0, tensor<4xf32>, pinned_host>] into [#mtc.at<64, tensor<4xf32>, pinned_host>] stream 0
}

// -----

mtc.kernel_function @k [4] on_host -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads [] [] gives [] [] {
  // expected-note @below {{the launch}}
  %t = mtc.async_launch @k [#mtc.at<0, tensor<4xf32>, pinned_host>] into [#mtc.at<64, tensor<4xf32>, pinned_host>] stream 4
  // expected-error @below {{reads #mtc.at<64, tensor<4xf32>, pinned_host> while a launch on stream 4 writes it; wait for the launch's token (step_c1)}}
  mtc.copy <64, tensor<4xf32>, pinned_host> into <0, tensor<4xf32>>
}

// -----

mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives [] [] {
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [2]
  // expected-error @below {{writes #mtc.at<72, tensor<4xf32>> over bytes 64 to 79, where a result of mtc.copy is live until operation 2, mtc.copy, has run (step_c4)}}
  mtc.copy <0, tensor<4xf32>> into <72, tensor<4xf32>> until [2]
  mtc.copy <64, tensor<4xf32>> into <128, tensor<4xf32>> until [2]
}

// -----

mtc.kernel_function @k [4] -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}
mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives [] [] {
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [1]
  // expected-error @below {{writes #mtc.at<64, tensor<16xi8>> over bytes 64 to 79, where a result of mtc.copy is live until operation 1, mtc.launch, has run (step_c4)}}
  mtc.launch @k [#mtc.at<64, tensor<4xf32>>] into [#mtc.at<128, tensor<4xf32>>] scratch 16 at 64 until [2]
}

// -----

// A variable is always live, unless it is transient.
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros at 64
mtc.variable gradient transient @g : tensor<4xf32> = #mtc.zeros of @w at 128
mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives [] [] {
  mtc.copy <0, tensor<4xf32>> into <128, tensor<4xf32>> until [1]
  mtc.copy <128, tensor<4xf32>> into <64, tensor<4xf32>> until [-1]
  // expected-error @below {{writes #mtc.at<64, tensor<4xf32>> over bytes 64 to 79, where the variable 'w' is live until the step's end (step_c4)}}
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [2]
}

// -----

mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives [] [] {
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [1]
  mtc.copy <64, tensor<4xf32>> into <64, tensor<4xf32>> until [1]
  // expected-error @below {{reads #mtc.at<64, tensor<4xf32>>, where no value is live (step_c5)}}
  mtc.copy <64, tensor<4xf32>> into <128, tensor<4xf32>> until [2]
}

// -----

mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives [] [] {
  // expected-error @below {{writes #mtc.at<64, tensor<4xf32>> as a part of a live value, but no value is live there (step_c5)}}
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [-1]
}

// -----

// expected-error @below {{returns #mtc.at<64, tensor<4xf32>>, where no value is live (step_c5)}}
mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives ["y"] [#mtc.at<64, tensor<4xf32>>] {
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [0]
}

// -----

mtc.step @s reads ["x"] [#mtc.at<0, tensor<4xf32>>] gives [] [] {
  // expected-error @below {{has 2 live ranges, expected 1, one per result (step_c4)}}
  mtc.copy <0, tensor<4xf32>> into <64, tensor<4xf32>> until [0, 0]
}
