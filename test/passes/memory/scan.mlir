// A scan becomes a repeat. Its body is allocated in the scan's scratch memory, with moving slices. Unaligned slices are copied, and so are states
// that the body passes on.
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s

// The initial value of n, which has no other user, is updated in place.
// CHECK: mtc.launch @kernel_0 [#mtc.at<64, tensor<16xf32>>] into [#mtc.at<[[N:[0-9]+]], tensor<16xf32>>] until [3]
// CHECK-NEXT: mtc.copy <0, tensor<3xf32>> into <[[A:[0-9]+]], tensor<3xf32>> until [3]
// CHECK-NEXT: mtc.copy <0, tensor<3xf32>> into <[[B:[0-9]+]], tensor<3xf32>> until [3]
// CHECK-NEXT: mtc.repeat 8 times [#mtc.at<[[A]], {{.*}}>, #mtc.at<[[B]], {{.*}}>, #mtc.at<[[N]], {{.*}}>, #mtc.at<128, tensor<8x3xf32>>, #mtc.at<256, tensor<8x16xf32>>, #mtc.at<768, tensor<3xf32>>]
// CHECK-SAME: scratch 64 at [[SCRATCH:[0-9]+]] until [4, 3, 4, 4, 4] {
// The old a is stacked before it changes.
// CHECK-NEXT: mtc.copy <212, tensor<3xf32> by -12> into <[[SCRATCH]], tensor<3xf32>> until [2]
// CHECK-NEXT: mtc.copy <[[A]], tensor<3xf32>> into <{{[0-9]+}}, tensor<3xf32> by -12> until [-1]
// CHECK-NEXT: mtc.launch @kernel_1 [#mtc.at<[[SCRATCH]], tensor<3xf32>>, #mtc.at<[[A]], tensor<3xf32>>, #mtc.at<768, tensor<3xf32>>] into [#mtc.at<[[SCRATCH]], tensor<3xf32>>] until [6]
// Aligned slices are read and written in place.
// CHECK-NEXT: mtc.launch @kernel_2 [#mtc.at<[[N]], tensor<16xf32>>, #mtc.at<704, tensor<16xf32> by -64>] into [#mtc.at<[[N]], tensor<16xf32>>, #mtc.at<{{[0-9]+}}, tensor<16xf32> by -64>] until [-1, -1]
// CHECK-NEXT: mtc.copy <[[B]], tensor<3xf32>> into <[[A]], tensor<3xf32>> until [-1]
// CHECK-NEXT: mtc.copy <[[SCRATCH]], tensor<3xf32>> into <[[B]], tensor<3xf32>> until [-1]
// CHECK-NEXT: }
module {
  func.func private @cell(%a: tensor<3xf32>, %b: tensor<3xf32>, %n: tensor<16xf32>, %x: tensor<3xf32>, %y: tensor<16xf32>, %w: tensor<3xf32>)
      -> (tensor<3xf32>, tensor<3xf32>, tensor<16xf32>, tensor<3xf32>, tensor<16xf32>)
      attributes {mtc.body = array<i64: 3, 2>} {
    %m = mtc.mul %a, %w : tensor<3xf32>
    %s = mtc.add %m, %x : tensor<3xf32>
    %t = mtc.exp %n : tensor<16xf32>
    %u = mtc.add %t, %y : tensor<16xf32>
    return %b, %s, %u, %a, %t : tensor<3xf32>, tensor<3xf32>, tensor<16xf32>, tensor<3xf32>, tensor<16xf32>
  }
  func.func @f(%a: tensor<3xf32> {mtc.name = "a"}, %n: tensor<16xf32> {mtc.name = "n"}, %x: tensor<8x3xf32> {mtc.name = "x"},
               %y: tensor<8x16xf32> {mtc.name = "y"}, %w: tensor<3xf32> {mtc.name = "w"})
      -> (tensor<3xf32> {mtc.name = "h"}, tensor<16xf32> {mtc.name = "m"}, tensor<8x3xf32> {mtc.name = "s"}, tensor<8x16xf32> {mtc.name = "t"}) {
    %n0 = mtc.exp %n : tensor<16xf32>
    %h:5 = mtc.scan @cell 8 times reversed from(%a, %a, %n0) over(%x, %y) with(%w)
      : (tensor<3xf32>, tensor<3xf32>, tensor<16xf32>, tensor<8x3xf32>, tensor<8x16xf32>, tensor<3xf32>)
        -> (tensor<3xf32>, tensor<3xf32>, tensor<16xf32>, tensor<8x3xf32>, tensor<8x16xf32>)
    return %h#0, %h#2, %h#3, %h#4 : tensor<3xf32>, tensor<16xf32>, tensor<8x3xf32>, tensor<8x16xf32>
  }
}

// -----

// Two swapped states need a copy of one of them.
// CHECK: mtc.repeat 3 times [#mtc.at<[[A:[0-9]+]], {{.*}}>, #mtc.at<[[B:[0-9]+]], {{.*}}>]
// CHECK-SAME: scratch 64 at [[SCRATCH:[0-9]+]]
// CHECK-NEXT: mtc.copy <[[B]], tensor<3xf32>> into <[[SCRATCH]], tensor<3xf32>> until [3]
// CHECK-NEXT: mtc.copy <[[A]], tensor<3xf32>> into <[[B]], tensor<3xf32>> until [-1]
// CHECK-NEXT: mtc.copy <[[SCRATCH]], tensor<3xf32>> into <[[A]], tensor<3xf32>> until [-1]
module {
  func.func private @cell(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      attributes {mtc.body = array<i64: 2, 0>} {
    return %b, %a : tensor<3xf32>, tensor<3xf32>
  }
  func.func @f(%a: tensor<3xf32> {mtc.name = "a"}, %b: tensor<3xf32> {mtc.name = "b"}) -> (tensor<3xf32> {mtc.name = "h"}) {
    %h:2 = mtc.scan @cell 3 times from(%a, %b) over() with() : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    return %h#0 : tensor<3xf32>
  }
}
