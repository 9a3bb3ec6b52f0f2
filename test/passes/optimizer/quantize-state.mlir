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

// -----

// The codes and scales of a part are parts, too. Blocks are those of the whole state: they have 256 elements, or the largest power of two
// that divides the runs of elements of the finest parts, of which this rank of @c has two. Such blocks are the rows of codes.
// CHECK: mtc.variable optimizer @a.m.codes : tensor<1536xui8> part of tensor<3072xui8> along <axis = 0, outer = 3, parts = 2> = #mtc.zeros of @a
// CHECK: mtc.variable optimizer @a.m.scales : tensor<6xf32> part of tensor<12xf32> along <axis = 0, outer = 3, parts = 2> = #mtc.zeros of @a
// CHECK: mtc.variable optimizer @b.m.codes : tensor<256xui8> piece of tensor<320xui8> part of tensor<640xui8> along <axis = 0, outer = 20, parts = 2> = dense<255> : tensor<640xui8> of @b
// CHECK: mtc.variable optimizer @b.m.scales : tensor<16xf32> piece of tensor<20xf32> part of tensor<40xf32> along <axis = 0, outer = 20, parts = 2> = dense<5.000000e-01> : tensor<40xf32> of @b
// CHECK: mtc.variable optimizer @c.m.codes : tensor<320xui8> part of tensor<640xui8> along <axis = 0, outer = 20, parts = 2> = #mtc.zeros of @c
// CHECK: mtc.variable optimizer @c.m.scales : tensor<40xf32> part of tensor<80xf32> along <axis = 0, outer = 20, parts = 2> = #mtc.zeros of @c
// CHECK: mtc.variable optimizer @d.m.codes : tensor<1024xui8> = #mtc.zeros of @d
// CHECK: mtc.variable optimizer @d.m.scales : tensor<32xf32> = #mtc.zeros of @d
mtc.variable parameter @a : tensor<1x1536xf32> part of tensor<1x3072xf32> along #mtc.axis_split<axis = 1, outer = 3, parts = 2> = #mtc.zeros
  {mtc.chunks = #mtc.axis_split<axis = 1, outer = 3, parts = 2>}
mtc.variable optimizer @a.m : tensor<1x1536xf32> part of tensor<1x3072xf32> along #mtc.axis_split<axis = 1, outer = 3, parts = 2>
  = #mtc.zeros of @a {mtc.quantization = #mtc.quantization<dynamic8>}
mtc.variable parameter @b : tensor<20x16xf32> part of tensor<20x32xf32> along #mtc.axis_split<axis = 1, parts = 2> = #mtc.zeros
  {mtc.chunks = #mtc.axis_split<axis = 1, parts = 2>}
mtc.variable optimizer @b.m : tensor<256xf32> piece of tensor<20x16xf32> part of tensor<20x32xf32> along #mtc.axis_split<axis = 1, parts = 2>
  = dense<0.5> : tensor<20x32xf32> of @b {mtc.quantization = #mtc.quantization<dynamic8>}
mtc.variable parameter @c : tensor<20x16xf32> part of tensor<20x32xf32> along #mtc.axis_split<axis = 1, parts = 2> = #mtc.zeros
  {mtc.chunks = #mtc.axis_split<axis = 1, parts = 4>}
mtc.variable optimizer @c.m : tensor<20x16xf32> part of tensor<20x32xf32> along #mtc.axis_split<axis = 1, parts = 2>
  = #mtc.zeros of @c {mtc.quantization = #mtc.quantization<dynamic8>}
mtc.variable parameter @d : tensor<16x128xf32> = #mtc.zeros {mtc.chunks = #mtc.axis_split<axis = 1, parts = 2>}
mtc.variable optimizer @d.m : tensor<16x128xf32> = #mtc.zeros of @d {mtc.quantization = #mtc.quantization<dynamic4>}
// CHECK-LABEL: func.func @update
// CHECK: %[[CODES:.*]] = mtc.read @c.m.codes : tensor<320xui8>
// CHECK: %[[ROWS:.*]] = mtc.reshape %[[CODES]] : tensor<320xui8> -> tensor<40x8xui8>
// CHECK: mtc.dequantize_blocks %[[ROWS]], %{{.*}} by <dynamic8> : tensor<40x8xui8>, tensor<40xf32> -> tensor<320xf32>
// CHECK: %[[NEW:.*]], %{{.*}} = mtc.quantize_blocks %{{.*}} by <dynamic8> : tensor<320xf32> -> tensor<40x8xui8>, tensor<40xf32>
// CHECK: %[[FLAT:.*]] = mtc.reshape %[[NEW]] : tensor<40x8xui8> -> tensor<320xui8>
// CHECK: mtc.write @c.m.codes, %[[FLAT]] : tensor<320xui8>
// CHECK: mtc.unpack_codes %{{.*}} by <dynamic4> : tensor<32x32xui8> -> tensor<32x64xui8>
// CHECK: mtc.pack_codes %{{.*}} by <dynamic4> : tensor<32x64xui8> -> tensor<32x32xui8>
func.func @update() {
  %m = mtc.read @c.m : tensor<20x16xf32>
  %n = mtc.mul %m, %m : tensor<20x16xf32>
  mtc.write @c.m, %n : tensor<20x16xf32>
  %d = mtc.read @d.m : tensor<16x128xf32>
  %e = mtc.mul %d, %d : tensor<16x128xf32>
  mtc.write @d.m, %e : tensor<16x128xf32>
  return
}
