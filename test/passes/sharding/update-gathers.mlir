// RUN: mtc-opt %s -split-input-file -mtc-shard | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-shard="bucket-bytes=4096" | FileCheck %s --check-prefix=SMALL

// Updated parameters of one element type are gathered together, at the last gather.
mtc.program "update" stage training ranks <count = 2, shard = gradients> accumulation <micro_steps = 4> {}
mtc.variable parameter @a : tensor<1024xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<1024xbf16> = #mtc.zeros
mtc.variable parameter @c : tensor<32x32xf32> = #mtc.zeros
mtc.variable parameter @d : tensor<1024xbf16> = #mtc.zeros
func.func @micro_step() {
  return
}

// CHECK-LABEL: func.func @update
// CHECK-NOT: mtc.all_gather
// CHECK: mtc.read @c
// CHECK: %[[C:.*]] = mtc.exp
// CHECK-NEXT: %[[F32:.*]]:2 = mtc.all_gather %{{.*}}, %[[C]] ranks 2 : tensor<512xf32>, tensor<512xf32> -> tensor<1024xf32>, tensor<32x32xf32>
// CHECK-NEXT: mtc.write @a, %[[F32]]#0
// CHECK-NEXT: mtc.write @c, %[[F32]]#1
// CHECK: %[[BF16:.*]]:2 = mtc.all_gather {{.*}} -> tensor<1024xbf16>, tensor<1024xbf16>
// CHECK-NEXT: mtc.write @b, %[[BF16]]#0
// CHECK-NEXT: mtc.write @d, %[[BF16]]#1
// CHECK-NEXT: return

// Two 16-bit parameters fill a bucket.
// SMALL-LABEL: func.func @update
// SMALL: mtc.all_gather {{.*}} -> tensor<1024xf32>
// SMALL-NEXT: mtc.write @a
// SMALL: mtc.all_gather {{.*}} -> tensor<32x32xf32>
// SMALL-NEXT: mtc.write @c
// SMALL: mtc.all_gather {{.*}} -> tensor<1024xbf16>, tensor<1024xbf16>
func.func @update() {
  %a = mtc.read @a : tensor<1024xf32>
  %a_piece = mtc.own_piece %a ranks 2 : tensor<1024xf32> -> tensor<512xf32>
  %new_a = mtc.exp %a_piece : tensor<512xf32>
  %all_a = mtc.all_gather %new_a ranks 2 : tensor<512xf32> -> tensor<1024xf32>
  mtc.write @a, %all_a : tensor<1024xf32>
  %b = mtc.read @b : tensor<1024xbf16>
  %b_piece = mtc.own_piece %b ranks 2 : tensor<1024xbf16> -> tensor<512xbf16>
  %all_b = mtc.all_gather %b_piece ranks 2 : tensor<512xbf16> -> tensor<1024xbf16>
  mtc.write @b, %all_b : tensor<1024xbf16>
  %c = mtc.read @c : tensor<32x32xf32>
  %c_piece = mtc.own_piece %c ranks 2 : tensor<32x32xf32> -> tensor<512xf32>
  %new_c = mtc.exp %c_piece : tensor<512xf32>
  %all_c = mtc.all_gather %new_c ranks 2 : tensor<512xf32> -> tensor<32x32xf32>
  mtc.write @c, %all_c : tensor<32x32xf32>
  %d = mtc.read @d : tensor<1024xbf16>
  %d_piece = mtc.own_piece %d ranks 2 : tensor<1024xbf16> -> tensor<512xbf16>
  %all_d = mtc.all_gather %d_piece ranks 2 : tensor<512xbf16> -> tensor<1024xbf16>
  mtc.write @d, %all_d : tensor<1024xbf16>
  return
}

// -----

// Later reads of a parameter return its new value.
mtc.program "read" stage training ranks <count = 2, shard = gradients> accumulation <micro_steps = 4> {}
mtc.variable parameter @a : tensor<1024xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<1024xf32> = #mtc.zeros
func.func @micro_step() {
  return
}

// CHECK-LABEL: func.func @update
// CHECK: mtc.all_gather {{.*}} -> tensor<1024xf32>
// CHECK-NEXT: mtc.write @a
// CHECK-NEXT: mtc.read @a
// CHECK: mtc.all_gather {{.*}} -> tensor<1024xf32>
// CHECK-NEXT: mtc.write @b
func.func @update() {
  %a = mtc.read @a : tensor<1024xf32>
  %a_piece = mtc.own_piece %a ranks 2 : tensor<1024xf32> -> tensor<512xf32>
  %all_a = mtc.all_gather %a_piece ranks 2 : tensor<512xf32> -> tensor<1024xf32>
  mtc.write @a, %all_a : tensor<1024xf32>
  %new_a = mtc.read @a : tensor<1024xf32>
  %b_piece = mtc.own_piece %new_a ranks 2 : tensor<1024xf32> -> tensor<512xf32>
  %all_b = mtc.all_gather %b_piece ranks 2 : tensor<512xf32> -> tensor<1024xf32>
  mtc.write @b, %all_b : tensor<1024xf32>
  return
}
