// RUN: mtc-opt %s -mtc-exchange-partials | FileCheck %s

#add = #mtc.partial<add, ranks = 2>
#max = #mtc.partial<max, ranks = 2, stride = 3>
#first = #mtc.partial<add, ranks = 2, chunk = 0, chunks = 3>
#second = #mtc.partial<add, ranks = 2, chunk = 1, chunks = 3>
#third = #mtc.partial<add, ranks = 2, chunk = 2, chunks = 3>
#alone = #mtc.partial<add, ranks = 1, chunk = 0, chunks = 2>
#both = #mtc.partial<add, ranks = 1, chunk = 1, chunks = 2>

// Each rank adds a piece of a large sum.
// CHECK-LABEL: func.func @large(%arg0: tensor<512x16xf32>)
// CHECK-NEXT: %[[ROWS:.*]] = mtc.all_to_all %arg0 pieces [4096] {mtc.addends} : tensor<512x16xf32> -> tensor<2x4096xf32>
// CHECK: %[[A:.*]] = mtc.slice %[[ROWS]] offsets [0, 0]
// CHECK: %[[FLAT:.*]] = mtc.reshape %[[A]]
// CHECK: %[[SUM:.*]] = mtc.add %[[FLAT]], %{{.*}} : tensor<4096xf32>
// CHECK-NEXT: %[[ALL:.*]] = mtc.all_gather %[[SUM]] ranks 2 : tensor<4096xf32> -> tensor<512x16xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @large(%a: tensor<512x16xf32>) -> tensor<512x16xf32> {
  %p = mtc.partial %a : tensor<512x16xf32> -> tensor<512x16xf32, #add>
  %y = mtc.all_reduce %p : tensor<512x16xf32, #add> -> tensor<512x16xf32>
  return %y : tensor<512x16xf32>
}

// The part of a rank needs no second exchange.
// CHECK-LABEL: func.func @scattered(%arg0: tensor<512x16xf32>)
// CHECK: mtc.all_to_all %arg0 pieces [4096] {mtc.addends}
// CHECK: %[[PART:.*]] = mtc.reshape %{{.*}} : tensor<4096xf32> -> tensor<256x16xf32>
// CHECK-NEXT: return %[[PART]]
func.func @scattered(%a: tensor<512x16xf32>) -> tensor<256x16xf32> {
  %p = mtc.partial %a : tensor<512x16xf32> -> tensor<512x16xf32, #add>
  %y = mtc.reduce_scatter %p along <axis = 0, parts = 2> : tensor<512x16xf32, #add> -> tensor<256x16xf32>
  return %y : tensor<256x16xf32>
}

// Operations on partial values are those on the elements of each rank.
// CHECK-LABEL: func.func @moved(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>)
// CHECK-NEXT: %[[SUM:.*]] = mtc.add %arg0, %arg1 : tensor<4x8xf32>
// CHECK-NEXT: %[[T:.*]] = mtc.transpose %[[SUM]] [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[WIDE:.*]] = mtc.cast %[[T]] : tensor<8x4xf32> -> tensor<8x4xf64>
// CHECK: mtc.all_gather {{.*}} ranks 2 {mtc.addends} : tensor<32xf64> -> tensor<2x32xf64>
func.func @moved(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<8x4xf64> {
  %p = mtc.partial %a : tensor<4x8xf32> -> tensor<4x8xf32, #add>
  %q = mtc.partial %b : tensor<4x8xf32> -> tensor<4x8xf32, #add>
  %s = mtc.add %p, %q : tensor<4x8xf32, #add>
  %t = mtc.transpose %s [1, 0] : tensor<4x8xf32, #add> -> tensor<8x4xf32, #add>
  %w = mtc.cast %t : tensor<8x4xf32, #add> -> tensor<8x4xf64, #add>
  %y = mtc.all_reduce %w : tensor<8x4xf64, #add> -> tensor<8x4xf64>
  return %y : tensor<8x4xf64>
}

// CHECK-LABEL: func.func @maximum
// CHECK: mtc.all_gather {{.*}} ranks 2 stride 3 {mtc.addends}
// CHECK: mtc.max
func.func @maximum(%a: tensor<4xf32>) -> tensor<4xf32> {
  %p = mtc.partial %a : tensor<4xf32> -> tensor<4xf32, #max>
  %y = mtc.all_reduce %p : tensor<4xf32, #max> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A rank adds the values of its own chunks first, in a balanced tree.
// CHECK-LABEL: func.func @chunks
// CHECK-COUNT-3: mtc.all_gather {{.*}} ranks 1 {mtc.addends} : tensor<4xf32> -> tensor<4xf32>
// CHECK: %[[AB:.*]] = mtc.add
// CHECK-NEXT: %[[OWN:.*]] = mtc.add %[[AB]]
// CHECK-NEXT: mtc.all_gather %[[OWN]] ranks 2 {mtc.addends}
func.func @chunks(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %p = mtc.partial %a : tensor<4xf32> -> tensor<4xf32, #first>
  %q = mtc.partial %b : tensor<4xf32> -> tensor<4xf32, #second>
  %r = mtc.partial %c : tensor<4xf32> -> tensor<4xf32, #third>
  %y = mtc.all_reduce %p, %q, %r : tensor<4xf32, #first>, tensor<4xf32, #second>, tensor<4xf32, #third> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// One rank with several chunks exchanges nothing.
// CHECK-LABEL: func.func @alone
// CHECK-COUNT-2: mtc.all_gather {{.*}} ranks 1 {mtc.addends}
// CHECK-NEXT: mtc.add
// CHECK-NEXT: return
func.func @alone(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %p = mtc.partial %a : tensor<4xf32> -> tensor<4xf32, #alone>
  %q = mtc.partial %b : tensor<4xf32> -> tensor<4xf32, #both>
  %y = mtc.all_reduce %p, %q : tensor<4xf32, #alone>, tensor<4xf32, #both> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A rank sends each other rank the heads that it computes, of its own tokens.
// CHECK-LABEL: func.func @reshard
// CHECK: mtc.reshape %{{.*}} : tensor<3x4x8x16xf32> -> tensor<3x2x2x1x1x8x16xf32>
// CHECK: %[[ROWS:.*]] = mtc.transpose %{{.*}} [2, 0, 1, 3, 4, 5, 6] : tensor<3x2x2x1x1x8x16xf32> -> tensor<2x3x2x1x1x8x16xf32>
// CHECK: %[[ALL:.*]] = mtc.all_to_all %[[ROWS]] pieces [768] stride 4 : tensor<2x3x2x1x1x8x16xf32> -> tensor<2x768xf32>
// CHECK: mtc.transpose %{{.*}} [1, 2, 3, 4, 0, 5, 6] : tensor<2x3x2x1x1x8x16xf32> -> tensor<3x2x1x1x2x8x16xf32>
// CHECK: mtc.reshape %{{.*}} : tensor<3x2x1x1x2x8x16xf32> -> tensor<3x2x16x16xf32>
func.func @reshard(%x: tensor<3x4x8x16xf32>) -> tensor<3x2x16x16xf32> {
  %y = mtc.reshard %x from <axis = 2, parts = 2, stride = 4> to <axis = 1, outer = 2, parts = 2, stride = 4>
    : tensor<3x4x8x16xf32> -> tensor<3x2x16x16xf32>
  return %y : tensor<3x2x16x16xf32>
}
