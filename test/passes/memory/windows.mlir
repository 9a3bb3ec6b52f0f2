// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate,mtc-overlap-copies)' | FileCheck %s --check-prefix=OVERLAP

// Of 80 rows 32 fit into a slot. Windows take the slots in turn, read and write their rows of the parameter where it lies, and
// leave the last rows to a kernel of their own.
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

// A flat tensor's variables lie one after another on the disk, too, from a page on.
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

// What is moved away takes memory of the device until then, and from when it is moved back.
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
