// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate,mtc-overlap-copies)' | FileCheck %s --check-prefix=OVERLAP

// 32 of 80 rows fit into a slot. Windows use the slots in turn, access their rows of the parameter in place, and leave the last rows to a separate
// kernel.
// CHECK-LABEL: mtc.arena size 20480
// CHECK-SAME: workspace_bytes = 8192
// CHECK-NEXT: mtc.arena in {{ *}}disk size 12288
// CHECK: mtc.step @update
// CHECK-NEXT: mtc.copy <0, tensor<32x32xf32>, disk> into <12288, tensor<32x32xf32>> until [1]
// CHECK-NEXT: mtc.launch @kernel_0 [#mtc.at<12288, {{.*}}>, #mtc.at<0, {{.*}}>] into [#mtc.at<0, {{.*}}>, #mtc.at<12288, {{.*}}>] until [-1, 2]
// CHECK-NEXT: mtc.copy <12288, tensor<32x32xf32>> into <0, tensor<32x32xf32>, disk> until [-1]
// CHECK-NEXT: mtc.copy <4096, tensor<32x32xf32>, disk> into <16384, tensor<32x32xf32>> until [4]
// CHECK-NEXT: mtc.launch @kernel_0 [#mtc.at<16384, {{.*}}>, #mtc.at<4096, {{.*}}>] into [#mtc.at<4096, {{.*}}>, #mtc.at<16384, {{.*}}>] until [-1, 5]
// CHECK-NEXT: mtc.copy <16384, tensor<32x32xf32>> into <4096, tensor<32x32xf32>, disk> until [-1]
// CHECK-NEXT: mtc.copy <8192, tensor<16x32xf32>, disk> into <12288, tensor<16x32xf32>> until [7]
// CHECK-NEXT: mtc.launch @kernel_1 [#mtc.at<12288, {{.*}}>, #mtc.at<8192, {{.*}}>] into [#mtc.at<8192, {{.*}}>, #mtc.at<12288, {{.*}}>] until [-1, 8]
// CHECK-NEXT: mtc.copy <12288, tensor<16x32xf32>> into <8192, tensor<16x32xf32>, disk> until [-1]
// Copies into slots start early, as soon as slots are free.
// OVERLAP: mtc.step @update
// OVERLAP-NEXT: %[[A:.*]] = mtc.async_copy <0, {{.*}}, disk> into <12288, {{.*}}> stream 1 until [2]
// OVERLAP-NEXT: %[[B:.*]] = mtc.async_copy <4096, {{.*}}, disk> into <16384, {{.*}}> stream 1 until [5]
// OVERLAP-NEXT: mtc.launch @kernel_0 {{.*}} after %[[A]] until [-1, 3]
// OVERLAP-NEXT: %[[OUT:.*]] = mtc.async_copy <12288, {{.*}}> into <0, {{.*}}, disk> stream 2 until [-1]
// OVERLAP-NEXT: %[[C:.*]] = mtc.async_copy <8192, {{.*}}, disk> into <12288, {{.*}}> stream 1 after %[[OUT]] until [7]
// OVERLAP-NEXT: mtc.launch @kernel_0 {{.*}} after %[[B]] until [-1, 6]
// OVERLAP-NEXT: mtc.async_copy <16384, {{.*}}> into <4096, {{.*}}, disk> stream 2
// OVERLAP-NEXT: mtc.launch @kernel_1 {{.*}} after %[[OUT]], %[[C]] until [-1, 8]
// OVERLAP-NEXT: mtc.async_copy <12288, {{.*}}> into <8192, {{.*}}, disk> stream 2
module {
  mtc.transfer_slots 2 size 4096
  mtc.variable optimizer @m in disk : tensor<80x32xf32> = #mtc.zeros
  mtc.variable parameter @p : tensor<80x32xf32> = #mtc.zeros
  func.func @update() {
    %m = mtc.read @m : tensor<80x32xf32>
    %p = mtc.read @p : tensor<80x32xf32>
    %half = mtc.constant dense<0.5> : tensor<80x32xf32>
    %new = mtc.mul %m, %half : tensor<80x32xf32>
    %sum = mtc.add %p, %new : tensor<80x32xf32>
    mtc.write @m, %new : tensor<80x32xf32>
    mtc.write @p, %sum : tensor<80x32xf32>
    return
  }
}

// -----

// A flat tensor's variables are adjacent on the disk, too, starting at a page.
// CHECK-LABEL: mtc.arena size 16384
// CHECK: mtc.variable {{ *}}optimizer @alone in {{ *}}disk {{.*}} at 8192
// CHECK: mtc.variable {{ *}}optimizer @a in {{ *}}disk {{.*}} at 0
// CHECK: mtc.variable {{ *}}optimizer @b in {{ *}}disk {{.*}} at 128
// CHECK: mtc.step @update
// CHECK-NEXT: mtc.copy <0, tensor<1024xf32>, disk> into <0, tensor<1024xf32>> until [1]
module {
  mtc.transfer_slots 4 size 4096
  mtc.variable optimizer @alone in disk : tensor<16xf32> = #mtc.zeros
  mtc.variable optimizer @a in disk : tensor<20xf32> = #mtc.zeros
  mtc.variable optimizer @b in disk : tensor<1500xf32> = #mtc.zeros
  func.func @update() {
    %m = mtc.read_flat [@a, @b] : tensor<1536xf32>
    %half = mtc.constant dense<0.5> : tensor<1536xf32>
    %new = mtc.mul %m, %half : tensor<1536xf32>
    mtc.write_flat [@a, @b], %new : tensor<1536xf32>
    return
  }
}

// -----

// An offloaded value occupies memory until its copy is complete, and again when its copy back starts.
// CHECK-LABEL: mtc.arena size 32768
// CHECK-NEXT: mtc.arena in {{ *}}disk size 8192
// CHECK: mtc.step @f
// CHECK-NEXT: mtc.launch @kernel_0 {{.*}} into [#mtc.at<8192, {{.*}}>] until [3]
// CHECK-NEXT: mtc.copy <8192, {{.*}}> into <0, {{.*}}, disk> until [5]
// CHECK: mtc.copy <0, {{.*}}, disk> into <16384, {{.*}}> until [6]
// Users of memory that is still occupied wait for it; copies start as soon as memory is free.
// OVERLAP: mtc.step @f
// OVERLAP-NEXT: mtc.launch @kernel_0 {{.*}} into [#mtc.at<8192, {{.*}}>] until [3]
// OVERLAP-NEXT: %[[AWAY:.*]] = mtc.async_copy <8192, {{.*}}> into <0, {{.*}}, disk> stream 2 until [4]
// OVERLAP-NEXT: mtc.launch
// OVERLAP-NEXT: mtc.launch
// OVERLAP-NEXT: %[[BACK:.*]] = mtc.async_copy <0, {{.*}}, disk> into <16384, {{.*}}> stream 1 after %[[AWAY]] until [6]
// OVERLAP-NEXT: mtc.launch @kernel_1 {{.*}} into [#mtc.at<8192, {{.*}}>] after %[[AWAY]] until [6]
// OVERLAP-NEXT: mtc.launch @kernel_2 {{.*}} after %[[BACK]] until [7]
module {
  func.func @f(%x: tensor<2048xf32> {mtc.name = "x"}) -> (tensor<2048xf32> {mtc.name = "y"}) {
    %a = mtc.cumulative_sum %x axis 0 : tensor<2048xf32>
    %away = mtc.move %a to disk : tensor<2048xf32>
    %b = mtc.cumulative_sum %x axis 0 exclusive : tensor<2048xf32>
    %c = mtc.cumulative_sum %b axis 0 : tensor<2048xf32>
    mtc.hold %a : tensor<2048xf32>
    %d = mtc.cumulative_sum %c axis 0 exclusive : tensor<2048xf32>
    %back = mtc.move %away to device : tensor<2048xf32>
    %y = mtc.mul %back, %d : tensor<2048xf32>
    return %y : tensor<2048xf32>
  }
}

// -----

// Windows also use memory that only the temporaries of other functions occupy. The windows of 80 rows have 32, 32 and 16 rows.
// CHECK-LABEL: mtc.arena size 24576
// CHECK: mtc.step @update
// CHECK-NEXT: mtc.copy <0, tensor<32x32xf32>, disk> into <8192, {{.*}}>
// CHECK: mtc.copy <4096, tensor<32x32xf32>, disk> into <12288, {{.*}}>
// CHECK: mtc.copy <8192, tensor<16x32xf32>, disk> into <16384, {{.*}}>
module {
  mtc.transfer_slots 2 size 4096
  mtc.variable optimizer @m in disk : tensor<80x32xf32> = #mtc.zeros
  func.func @f(%x: tensor<2048xf32> {mtc.name = "x"}) -> (tensor<2048xf32> {mtc.name = "y"}) {
    %a = mtc.cumulative_sum %x axis 0 : tensor<2048xf32>
    %b = mtc.cumulative_sum %x axis 0 exclusive : tensor<2048xf32>
    %y = mtc.mul %a, %b : tensor<2048xf32>
    return %y : tensor<2048xf32>
  }
  func.func @update() {
    %m = mtc.read @m : tensor<80x32xf32>
    %half = mtc.constant dense<0.5> : tensor<80x32xf32>
    %new = mtc.mul %m, %half : tensor<80x32xf32>
    mtc.write @m, %new : tensor<80x32xf32>
    return
  }
}

// -----

// Windows are of similar size: 96 and 64 of 160 rows, in slots for 128. Each has whole pages.
// CHECK-LABEL: mtc.arena size 32768
// CHECK: mtc.step @update
// CHECK-NEXT: mtc.copy <0, tensor<96x32xf32>, disk>
// CHECK: mtc.copy <12288, tensor<64x32xf32>, disk>
module {
  mtc.transfer_slots 2 size 16384
  mtc.variable optimizer @m in disk : tensor<160x32xf32> = #mtc.zeros
  func.func @update() {
    %m = mtc.read @m : tensor<160x32xf32>
    %half = mtc.constant dense<0.5> : tensor<160x32xf32>
    %new = mtc.mul %m, %half : tensor<160x32xf32>
    mtc.write @m, %new : tensor<160x32xf32>
    return
  }
}
