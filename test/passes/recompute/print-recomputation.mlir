// Candidates for recomputation are printed for each function, with their cost; the module does not change.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/step.mlir --mtc-print-recomputation -o %t.mlir 2> %t.json
// RUN: mtc-opt %t/step.mlir | diff - %t.mlir
// RUN: sed 's/{"again\|{"gives/\n&/g' %t.json | FileCheck %s --match-full-lines

// The variable and the input outlive the function. The new value of the variable is computed in its memory.
// CHECK: {"bytes":[16384,16384,16384,0,256],"fixed_bytes":32768,"function":"micro_step","live_bytes":65536,"operations":[
// CHECK-NEXT: {"again":true,"alternatives":[
// CHECK-NEXT: {"gives":[0],"in_place":[],"picoseconds":[[PRODUCT:[0-9]+]],"reads":[],"scratch":0,"variables":["w"]}],"node":"product","writes":[]},
// Both results may overwrite the contraction's result. One result is computed from the contraction's result, and the other one from both.
// CHECK-NEXT: {"again":true,"alternatives":[
// CHECK-NEXT: {"gives":[1,2],"in_place":{{\[\[}}0,0,0],[1,0,0]],"picoseconds":4997120,"reads":[0],"scratch":0,"variables":[]},
// CHECK-NEXT: {"gives":[1],"in_place":{{\[\[}}0,0,0]],"picoseconds":3317760,"reads":[0],"scratch":0,"variables":[]},
// CHECK-NEXT: {"gives":[2],"in_place":{{\[\[}}0,0,0]],"picoseconds":3358720,"reads":[0],"scratch":0,"variables":[]},
// CHECK-NEXT: {"gives":[2],"in_place":{{\[\[}}0,1,0]],"picoseconds":3317760,"reads":[1],"scratch":0,"variables":[]}],"node":"activation","writes":[]},
// CHECK-NEXT: {"again":true,"alternatives":[
// CHECK-NEXT: {"gives":[3],"in_place":[],"picoseconds":6635520,"reads":[1,2],"scratch":0,"variables":["w"]}],"node":"update","writes":[]},
// CHECK-NEXT: {"again":false,"alternatives":[
// CHECK-NEXT: {"gives":[],"in_place":[],"picoseconds":0,"reads":[3],"scratch":0,"variables":[]}],"node":"","writes":["w"]},
// CHECK-NEXT: {"again":true,"alternatives":[
// CHECK-NEXT: {"gives":[4],"in_place":[],"picoseconds":1704960,"reads":[2],"scratch":0,"variables":[]}],"node":"sum","writes":[]},
// The returned value is live until the end.
// CHECK-NEXT: {"again":false,"alternatives":[
// CHECK-NEXT: {"gives":[],"in_place":[],"picoseconds":0,"reads":[4],"scratch":0,"variables":[]}],"node":"","writes":[]}]}

// Functions with tiles or copies between memory spaces are rejected, because the output does not describe them.
// RUN: not mtc-opt %t/tiles.mlir --mtc-print-recomputation -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: error: 'mtc.assemble' op is tiled or copied between memory spaces; expected neither

//--- step.mlir
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<64xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %h = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc("product")
  %e, %s = mtc.kernel [64, 64](%h) : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%a: tensor<64x64xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %u = math.exp %v : f32
    %t = math.tanh %u : f32
    mtc.kernel.yield %u, %t at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] : f32, f32
  } loc("activation")
  %n = mtc.kernel [64, 64](%e, %s, %w) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>):
    %i = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %j = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %k = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %p = arith.mulf %i, %j : f32
    %q = arith.addf %p, %k : f32
    mtc.kernel.yield %q at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  } loc("update")
  mtc.write @w, %n : tensor<64x64xf32>
  %z = mtc.kernel [64, 64] reduce [1](%s) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64x64xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %r = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %r at [affine_map<(d0, d1) -> (d0)>] : f32
  } loc("sum")
  return %z : tensor<64xf32>
}

//--- tiles.mlir
func.func @micro_step(%x: tensor<32x64xf32> {mtc.name = "x"}) -> (tensor<64x64xf32> {mtc.name = "y"}) {
  %y = mtc.assemble %x, %x : tensor<32x64xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
