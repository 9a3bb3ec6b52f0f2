// RUN: mtc-opt %s --split-input-file --mtc-quantize-optimizer-state --canonicalize | FileCheck %s

// The pass knows no optimizer: this is none. A state becomes two variables; elements that would not be finite start anew, and
// their parameters stay; so does what else is made of the parameter.
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
// CHECK: %[[FA:.*]] = mtc.compare lt
// CHECK: %[[FB:.*]] = mtc.compare lt
// CHECK: %[[EXISTS:.*]] = mtc.and %[[FA]], %[[FB]]
// CHECK: %[[FP:.*]] = mtc.compare lt
// CHECK: %[[MOVES:.*]] = mtc.and %[[EXISTS]], %[[FP]]
// CHECK: %[[KEPT:.*]] = mtc.select %[[MOVES]], %[[NP]], %[[P]]
// CHECK-DAG: %[[KA:.*]] = mtc.select %[[EXISTS]], %[[NA]]
// CHECK-DAG: %[[KB:.*]] = mtc.select %[[EXISTS]], %[[NB]]
// CHECK-DAG: %[[CA:.*]], %[[SA:.*]] = mtc.quantize_blocks %[[KA]] by <dynamic8>
// CHECK-DAG: mtc.write @w.a.codes, %[[CA]]
// CHECK-DAG: mtc.write @w.a.scales, %[[SA]]
// CHECK-DAG: mtc.quantize_blocks %[[KB]] by <unsigned_dynamic8>
// CHECK-DAG: mtc.mul %[[KEPT]], %[[KEPT]]
// CHECK-DAG: mtc.write @w, %[[KEPT]]
mtc.variable parameter @w : tensor<300xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<300xf32> = #mtc.zeros of @w
mtc.variable optimizer @w.a : tensor<300xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<dynamic8>}
mtc.variable optimizer @w.b : tensor<300xf32> = dense<0.5> : tensor<300xf32> of @w {mtc.quantization = #mtc.quantization<unsigned_dynamic8>}
mtc.variable average @w.ema : tensor<300xf32> = #mtc.as_parameter of @w
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
  %e = mtc.mul %np, %np : tensor<300xf32>
  mtc.write @w.ema, %e : tensor<300xf32>
  mtc.write @w, %np : tensor<300xf32>
  return
}

// -----

// Two codes of four bits in a byte.
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
