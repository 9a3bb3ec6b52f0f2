// One violation of each constraint of KernelOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @kernel_c1() {
  // expected-error @below {{extent 0 of the space is not positive (kernel_c1)}}
  %y = mtc.kernel [0] () : () -> tensor<0xf32> {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c1_reduced() {
  // expected-error @below {{reduced dimension 1 does not ascend within a space of rank 1 (kernel_c1)}}
  %y = mtc.kernel [4] reduce [1] () : () -> tensor<4xf32> {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c2(%x: tensor<4xf32>) {
  // expected-error @below {{body's arguments differ from the operands' types (kernel_c2)}}
  %y = mtc.kernel [4] (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<5xf32>):
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c3(%x: tensor<4xf32>) {
  %y = mtc.kernel [4] (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4xf32>):
    // expected-error @below {{is not permitted in a kernel's body (kernel_c3)}}
    %b = mtc.neg %a : tensor<4xf32>
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c4_count() {
  // expected-error @below {{yields 1 values at 1 maps, expected 2 (kernel_c4)}}
  %y, %z = mtc.kernel [4] () : () -> (tensor<4xf32>, tensor<4xf32>) {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

// 16-bit floats are computed in f32.
func.func @kernel_c4_type() {
  // expected-error @below {{yields 'f64' for 'tensor<4xbf16>', expected 'f32' (kernel_c4)}}
  %y = mtc.kernel [4] () : () -> tensor<4xbf16> {
    %c = arith.constant 0.0 : f64
    mtc.kernel.yield %c at [affine_map<(d0) -> (d0)>] : f64
  }
  return
}

// -----

func.func @kernel_c4_map() {
  // expected-error @below {{expected 1 dims, 0 symbols and 1 results (kernel_c4)}}
  %y = mtc.kernel [4] () : () -> tensor<4xf32> {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0, d1) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c5(%x: tensor<4x8xf32>) {
  // expected-error @below {{a value that differs along a reduced dimension (kernel_c5)}}
  %y = mtc.kernel [4, 8] reduce [1] (%x) : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4x8xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0)>] : f32
  }
  return
}

// -----

func.func @load_c1(%x: tensor<4x8xf32>) {
  %y = mtc.kernel [4] (%x) : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4x8xf32>):
    // expected-error @below {{expected 1 dims, 0 symbols and 2 results (load_c1)}}
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4x8xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @load_c2(%x: tensor<4xbf16>) {
  %y = mtc.kernel [4] (%x) : (tensor<4xbf16>) -> tensor<4xf64> {
  ^body(%a: tensor<4xbf16>):
    // expected-error @below {{returns 'f64', expected 'f32' (load_c2)}}
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xbf16> -> f64
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f64
  }
  return
}

// -----

func.func @kernel_c6_number(%x: tensor<4x8xf32>) {
  // expected-error @below {{adds to result 1, expected ascending numbers below 1 and, without symbols, results of floats (kernel_c6)}}
  %0 = mtc.kernel [4, 8] (%x) : (tensor<4x8xf32>) -> tensor<8xf32> {
  ^body(%a: tensor<4x8xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d1)>] add [1] : f32
  }
  return
}

// -----

func.func @kernel_c6_symbols(%x: tensor<4x8xf32>) {
  // expected-error @below {{adds 0 of its 1 results, expected all of them with symbols (kernel_c6)}}
  %0 = mtc.kernel [4, 8] (%x) : (tensor<4x8xf32>) -> tensor<8xf32> {
  ^body(%a: tensor<4x8xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> f32
    %i = mtc.kernel.index affine_map<(d0, d1) -> (d1)>
    mtc.kernel.yield %v at [affine_map<(d0, d1)[s0] -> (s0)>] [%i] : f32
  }
  return
}

// -----

func.func @kernel_c6_other(%x: tensor<4x8xf32>) {
  // expected-error @below {{sums over dimension 0, which result 1 omits without `add` (kernel_c6)}}
  %0:2 = mtc.kernel [4, 8] (%x) : (tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  ^body(%a: tensor<4x8xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> f32
    mtc.kernel.yield %v, %v at [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>] add [0] : f32, f32
  }
  return
}

// -----

func.func @kernel_c7(%x: tensor<4x1xf32>) {
  %0 = mtc.kernel [4, 1] reduce [1] (%x) : (tensor<4x1xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4x1xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, 0)> : tensor<4x1xf32> -> f32
    // expected-error @below {{has nothing to combine: every reduced dimension of the space has extent 1 (kernel_c7)}}
    %s = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c7_elementwise(%x: tensor<4xf32>) {
  %0 = mtc.kernel [4] (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
    // expected-error @below {{has nothing to combine}}
    %s = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_c9(%x: tensor<9xf32>, %i: tensor<9xi64>, %y: tensor<6xf32>) {
  // expected-error @below {{expected an argument of the type of its only result, and symbols (kernel_c9)}}
  %z = mtc.kernel [9] reduce [0] (%x, %i, %y) : (tensor<9xf32>, tensor<9xi64>, tensor<6xf32>) -> tensor<5xf32> {
  ^body(%a: tensor<9xf32>, %b: tensor<9xi64>, %c: tensor<6xf32>):
    %n = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<9xi64> -> i64
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<9xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0)[s0] -> (s0)>] [%n] add [0] onto %c : tensor<6xf32> : f32
  }
  return
}

// -----

func.func @kernel_c9_no_symbols(%x: tensor<9xf32>) {
  // expected-error @below {{expected an argument of the type of its only result, and symbols (kernel_c9)}}
  %z = mtc.kernel [9] (%x) : (tensor<9xf32>) -> tensor<9xf32> {
  ^body(%a: tensor<9xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<9xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] onto %a : tensor<9xf32> : f32
  }
  return
}

// -----

func.func @kernel_c1_points() {
  // expected-error @below {{has more iterations than 64 bits can count (kernel_c1)}}
  %y = mtc.kernel [4294967296, 4294967296] reduce [0, 1] () : () -> tensor<f32> {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0, d1) -> ()>] : f32
  }
  return
}

// -----

func.func @kernel_c10(%x: tensor<4x256xf32>) {
  // expected-error @below {{index 1 goes from 0 to 2147483647 over the space [4, 2147483648], beyond 'tensor<4x256xf32>' (kernel_c10)}}
  %y = mtc.kernel [4, 2147483648] () : () -> tensor<4x256xf32> {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return
}

// -----

func.func @kernel_c10_sum() {
  // expected-error @below {{index 0 goes from 0 to 11 over the space [3, 4], beyond 'tensor<11xf32>' (kernel_c10)}}
  %y = mtc.kernel [3, 4] () : () -> tensor<11xf32> {
    %c = arith.constant 0.0 : f32
    mtc.kernel.yield %c at [affine_map<(d0, d1) -> (d0 * 4 - d1 + 3)>] : f32
  }
  return
}

// -----

func.func @load_c3(%x: tensor<4x256xf32>) {
  %y = mtc.kernel [4, 2147483648] reduce [1] (%x) : (tensor<4x256xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4x256xf32>):
    // expected-error @below {{index 1 goes from 0 to 2147483647 over the space [4, 2147483648], beyond 'tensor<4x256xf32>' (load_c3)}}
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x256xf32> -> f32
    %s = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
  }
  return
}

// -----

func.func @load_c3_shifted(%x: tensor<4xf32>) {
  %y = mtc.kernel [4] (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^body(%a: tensor<4xf32>):
    // expected-error @below {{index 0 goes from -1 to 2 over the space [4], beyond 'tensor<4xf32>' (load_c3)}}
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0 - 1)> : tensor<4xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

// A guard must exclude out-of-bounds indices.
func.func @load_c3_guarded(%x: tensor<4xf32>) {
  %y = mtc.kernel [5] (%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^body(%a: tensor<4xf32>):
    %i = mtc.kernel.index affine_map<(d0) -> (d0)>
    %one = arith.constant 1 : i64
    %guard = arith.cmpi sge, %i, %one : i64
    %zero = arith.constant 0.0 : f32
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0 - 1)> if %guard else %zero : f32 : tensor<4xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_add_rows_c1(%x: tensor<512x64xf32>) {
  %y = mtc.kernel [64] (%x) : (tensor<512x64xf32>) -> tensor<64xf32> {
  ^body(%a: tensor<512x64xf32>):
    // expected-error @below {{reads at affine_map<(d0)[s0] -> (0, d0)>, expected 1 dims, one symbol, which is used only as the first result, and 2 results (kernel_add_rows_c1)}}
    %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (0, d0)> : tensor<512x64xf32> -> f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_add_rows_c2(%x: tensor<512x64xf32>) {
  %y = mtc.kernel [64] (%x) : (tensor<512x64xf32>) -> tensor<64xf32> {
  ^body(%a: tensor<512x64xf32>):
    %c = arith.constant 1.0 : f64
    // expected-error @below {{has a scalar of 'f64', expected 'f32' (kernel_add_rows_c2)}}
    %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0)> onto %c : f64 : tensor<512x64xf32> -> f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}

// -----

func.func @kernel_add_rows_c3(%x: tensor<512x64xf32>) {
  %y = mtc.kernel [64] (%x) : (tensor<512x64xf32>) -> tensor<64xf32> {
  ^body(%a: tensor<512x64xf32>):
    // expected-error @below {{index 1 goes from 1 to 64 over the space [64], beyond 'tensor<512x64xf32>' (kernel_add_rows_c3)}}
    %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0 + 1)> : tensor<512x64xf32> -> f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  return
}
