// Lookups in small tables, and rounded minimums of linear functions.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s --check-prefix=NONE
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu=permutes-tables --canonicalize --cse | FileCheck %s --check-prefix=WORDS
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu=permutes-bytes --canonicalize --cse | FileCheck %s --check-prefix=BYTES

// A table of 256 elements is divided into four planes of bytes before the loops. 64 lanes are looked up at once.
// NONE-LABEL: @mtc_kernel.bytes
// NONE: llvm.intr.masked.gather {{.*}} -> vector<64xf32>
// WORDS-LABEL: @mtc_kernel.bytes
// WORDS-NOT: gather
// WORDS-COUNT-32: vpermi2var.ps.512
// WORDS-NOT: vpermi2var
// BYTES-LABEL: @mtc_kernel.bytes
// BYTES: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// BYTES-COUNT-16: llvm.store {{.*}} : vector<64xi8>
// BYTES: scf.for
// BYTES-NOT: gather
// BYTES-COUNT-8: vpermi2var.qi.512
// BYTES-NOT: vpermi2var
// BYTES: llvm.return
mtc.kernel_function @bytes [4096] -> [tensor<4096xf32>] {
^body(%codes: tensor<4096xui8>, %table: tensor<512xf32>):
  %c = mtc.kernel.load %codes at affine_map<(d0) -> (d0)> : tensor<4096xui8> -> i8
  %i = arith.extui %c : i8 to i64
  %x = mtc.kernel.load %table at affine_map<(d0)[s0] -> (s0 + 256)> [%i] : tensor<512xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}

// A minimum of linear functions is computed in 16 bits, with two functions for each exponent, if this is accurate enough.
// NONE-LABEL: @mtc_kernel.lines
// NONE: arith.fptosi
// WORDS-LABEL: @mtc_kernel.lines
// WORDS: arith.fptosi
// BYTES-LABEL: @mtc_kernel.lines
// BYTES-NOT: arith.fptosi
// BYTES-COUNT-8: permvar.hi.512
// BYTES-NOT: arith.fptosi
// BYTES: llvm.return
mtc.kernel_function @lines [4096] -> [tensor<4096xi8>] {
^body(%a: tensor<4096xf32>):
  %s0 = arith.constant 1000.0 : f32
  %o0 = arith.constant 0.5 : f32
  %s1 = arith.constant 200.0 : f32
  %o1 = arith.constant 10.5 : f32
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4096xf32> -> f32
  %m = math.absf %x : f32
  %p0 = arith.mulf %m, %s0 : f32
  %y0 = arith.addf %p0, %o0 : f32
  %b0 = arith.bitcast %y0 : f32 to i32
  %p1 = arith.mulf %m, %s1 : f32
  %y1 = arith.addf %p1, %o1 : f32
  %b1 = arith.bitcast %y1 : f32 to i32
  %l = arith.minsi %b0, %b1 : i32
  %y = arith.bitcast %l : i32 to f32
  %n = arith.fptosi %y : f32 to i32
  %i = arith.trunci %n {mtc.tolerance = 0.2 : f32} : i32 to i8
  mtc.kernel.yield %i at [affine_map<(d0) -> (d0)>] : i8
}

// With a smaller tolerance, or none, the arithmetic stays in f32.
// BYTES-LABEL: @mtc_kernel.exact
// BYTES-COUNT-2: arith.fptosi
// BYTES: llvm.return
mtc.kernel_function @exact [4096] -> [tensor<4096xi8>, tensor<4096xi8>] {
^body(%a: tensor<4096xf32>):
  %s0 = arith.constant 250.0 : f32
  %o0 = arith.constant 0.5 : f32
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4096xf32> -> f32
  %m = math.absf %x : f32
  %p0 = arith.mulf %m, %s0 : f32
  %y0 = arith.addf %p0, %o0 : f32
  %b0 = arith.bitcast %y0 : f32 to i32
  %y = arith.bitcast %b0 : i32 to f32
  %n = arith.fptosi %y : f32 to i32
  %i = arith.trunci %n {mtc.tolerance = 0.001 : f32} : i32 to i8
  %k = arith.fptosi %p0 : f32 to i32
  %j = arith.trunci %k : i32 to i8
  mtc.kernel.yield %i, %j at [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] : i8, i8
}
