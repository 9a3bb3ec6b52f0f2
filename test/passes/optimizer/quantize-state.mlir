// RUN: mtc-opt %s --split-input-file --mtc-quantize-optimizer-state --canonicalize | FileCheck %s

// The pass does not depend on optimizers, so this function is none. A state becomes two variables.
// CHECK: mtc.variable optimizer @w.a.codes : tensor<300xui8> = #mtc.zeros of @w
// CHECK: mtc.variable optimizer @w.a.scales : tensor<2xf32> = #mtc.zeros of @w
// CHECK: mtc.variable optimizer @w.b.codes : tensor<300xui8> = dense<255> : tensor<300xui8> of @w
// CHECK: mtc.variable optimizer @w.b.scales : tensor<2xf32> = dense<5.000000e-01> : tensor<2xf32> of @w
// CHECK-NOT: mtc.quantization
// CHECK-LABEL: func.func @update
// CHECK-DAG: %[[P:.*]] = mtc.read @w : tensor<300xf32>
// CHECK-DAG: %[[AC:.*]] = mtc.read @w.a.codes
// CHECK-DAG: %[[AS:.*]] = mtc.read @w.a.scales
// CHECK-DAG: %[[A:.*]] = mtc.dequantize_blocks %[[AC]], %[[AS]] by <dynamic8>
// CHECK-DAG: %[[B:.*]] = mtc.dequantize_blocks %{{.*}}, %{{.*}} by <unsigned_dynamic8>
// CHECK: %[[NA:.*]] = mtc.add %[[A]], %{{.*}}
// CHECK: %[[NB:.*]] = mtc.mul %[[B]], %[[B]]
// CHECK: %[[NP:.*]] = mtc.sub %[[P]], %[[NA]]
// CHECK-DAG: %[[CA:.*]], %[[SA:.*]] = mtc.quantize_blocks %[[NA]] by <dynamic8>
// CHECK-DAG: mtc.write @w.a.codes, %[[CA]]
// CHECK-DAG: mtc.write @w.a.scales, %[[SA]]
// CHECK-DAG: mtc.quantize_blocks %[[NB]] by <unsigned_dynamic8>
// CHECK-DAG: mtc.write @w, %[[NP]]
mtc.variable parameter @w : tensor<300xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<300xf32> = #mtc.zeros of @w
mtc.variable optimizer @w.a : tensor<300xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<dynamic8>}
mtc.variable optimizer @w.b : tensor<300xf32> = dense<0.5> : tensor<300xf32> of @w {mtc.quantization = #mtc.quantization<unsigned_dynamic8>}
func.func @update() {
  %p = mtc.read @w : tensor<300xf32>
  %g = mtc.read @w.grad : tensor<300xf32>
  %a = mtc.read @w.a : tensor<300xf32>
  %b = mtc.read @w.b : tensor<300xf32>
  %na = mtc.add %a, %g : tensor<300xf32>
  %nb = mtc.mul %b, %b : tensor<300xf32>
  %np = mtc.sub %p, %na : tensor<300xf32>
  mtc.write @w.a, %na : tensor<300xf32>
  mtc.write @w.b, %nb : tensor<300xf32>
  mtc.write @w, %np : tensor<300xf32>
  return
}

// -----

// A byte contains two codes of four bits.
// CHECK: mtc.variable optimizer @w.a.codes : tensor<128xui8> = #mtc.zeros of @w
// CHECK: mtc.variable optimizer @w.a.scales : tensor<2xf32> = #mtc.zeros of @w
// CHECK-LABEL: func.func @update
// CHECK: mtc.unpack_codes %{{.*}} by <dynamic4> : tensor<128xui8> -> tensor<256xui8>
// CHECK: mtc.dequantize_blocks {{.*}} -> tensor<256xf32>
// CHECK: mtc.reshape {{.*}} -> tensor<16x16xf32>
// CHECK: mtc.quantize_blocks
// CHECK: mtc.pack_codes %{{.*}} by <dynamic4> : tensor<256xui8> -> tensor<128xui8>
mtc.variable parameter @w : tensor<16x16xf32> = #mtc.zeros
mtc.variable optimizer @w.a : tensor<16x16xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<dynamic4>}
func.func @update() {
  %p = mtc.read @w : tensor<16x16xf32>
  %a = mtc.read @w.a : tensor<16x16xf32>
  %na = mtc.add %a, %p : tensor<16x16xf32>
  mtc.write @w.a, %na : tensor<16x16xf32>
  mtc.write @w, %na : tensor<16x16xf32>
  return
}

// -----

// In a skipped step, a state keeps its codes and scales.
// CHECK-LABEL: func.func @update
// CHECK: %[[SKIPPED:.*]] = mtc.read @skipped : tensor<i1>
// CHECK: %[[OLD:.*]] = mtc.read @w.a.codes
// CHECK: %[[OLDSCALES:.*]] = mtc.read @w.a.scales
// CHECK: %[[NEW:.*]], %[[NEWSCALES:.*]] = mtc.quantize_blocks
// CHECK: %[[S:.*]] = mtc.broadcast %[[SKIPPED]] axes [0] : tensor<i1> -> tensor<300xi1>
// CHECK: %[[CODES:.*]] = mtc.select %[[S]], %[[OLD]], %[[NEW]]
// CHECK: %[[T:.*]] = mtc.broadcast %[[SKIPPED]] axes [0] : tensor<i1> -> tensor<2xi1>
// CHECK: %[[SCALES:.*]] = mtc.select %[[T]], %[[OLDSCALES]], %[[NEWSCALES]]
// CHECK: mtc.write @w.a.codes, %[[CODES]]
// CHECK: mtc.write @w.a.scales, %[[SCALES]]
mtc.variable state @skipped : tensor<i1> = #mtc.zeros
mtc.variable parameter @w : tensor<300xf32> = #mtc.zeros
mtc.variable optimizer @w.a : tensor<300xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<dynamic8>}
func.func @update() {
  %s = mtc.read @skipped : tensor<i1>
  %p = mtc.read @w : tensor<300xf32>
  %a = mtc.read @w.a : tensor<300xf32>
  %na = mtc.add %a, %p : tensor<300xf32>
  %b = mtc.broadcast %s axes [0] : tensor<i1> -> tensor<300xi1>
  %k = mtc.select %b, %a, %na : tensor<300xi1>, tensor<300xf32>
  mtc.write @w.a, %k : tensor<300xf32>
  return
}
