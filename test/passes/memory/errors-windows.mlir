// RUN: mtc-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)'

module {
  mtc.variable optimizer @m in disk : tensor<80x32xf32> = #mtc.zeros
  func.func @update() {
    %m = mtc.read @m : tensor<80x32xf32>
    %half = mtc.constant dense<0.5> : tensor<80x32xf32>
    // expected-error @below {{has operands in another memory space, but cannot run in windows: the module has no mtc.transfer_slots}}
    %new = mtc.mul %m, %half : tensor<80x32xf32>
    mtc.write @m, %new : tensor<80x32xf32>
    return
  }
}

// -----

module {
  mtc.transfer_slots 2 size 4096
  mtc.variable optimizer @m in disk : tensor<3x2000xf32> = #mtc.zeros
  func.func @update() {
    %m = mtc.read @m : tensor<3x2000xf32>
    %half = mtc.constant dense<0.5> : tensor<3x2000xf32>
    // expected-error @below {{cannot run in windows: slots of 4096 bytes are too small}}
    %new = mtc.mul %m, %half : tensor<3x2000xf32>
    mtc.write @m, %new : tensor<3x2000xf32>
    return
  }
}

// -----

module {
  mtc.transfer_slots 2 size 4096
  mtc.variable optimizer @m in disk : tensor<80x32xf32> = #mtc.zeros
  func.func @f() -> (tensor<f32> {mtc.name = "sum"}) {
    %m = mtc.read @m : tensor<80x32xf32>
    // expected-error @below {{cannot run in windows: a kernel that reads or writes it reduces its rows}}
    %sum = mtc.reduce add %m axes [0, 1] : tensor<80x32xf32> -> tensor<f32>
    return %sum : tensor<f32>
  }
}

// -----

module {
  mtc.transfer_slots 2 size 4096
  mtc.variable optimizer @a in disk : tensor<32xf32> = #mtc.zeros
  mtc.variable optimizer @b : tensor<32xf32> = #mtc.zeros
  func.func @update() {
    // expected-error @below {{has @b in memory space device, but its predecessor in disk}}
    %m = mtc.read_flat [@a, @b] : tensor<64xf32>
    %half = mtc.constant dense<0.5> : tensor<64xf32>
    %new = mtc.mul %m, %half : tensor<64xf32>
    mtc.write_flat [@a, @b], %new : tensor<64xf32>
    return
  }
}
