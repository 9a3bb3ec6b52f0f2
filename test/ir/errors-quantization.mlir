// One violation of each constraint of QuantizationOps.td, and of the scalar operations in kernels.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @quantize_c1_codes(%c: tensor<600xui8>, %s: tensor<3xf32>) {
  // expected-error @below {{has 600 codes and 3 scales for 599 elements, expected a code for each and 3 scales (quantize_c1)}}
  %x = mtc.dequantize_blocks %c, %s by <dynamic8> : tensor<600xui8>, tensor<3xf32> -> tensor<599xf32>
  return
}

// -----

func.func @quantize_c1_scales(%x: tensor<600xf32>) {
  // expected-error @below {{has 600 codes and 3 scales for 600 elements, expected a code for each and 5 scales (quantize_c1)}}
  %c, %s = mtc.quantize_blocks %x by <dynamic4> : tensor<600xf32> -> tensor<600xui8>, tensor<3xf32>
  return
}

// -----

func.func @quantize_c1_rows(%c: tensor<10x64xui8>, %s: tensor<3xf32>) {
  // expected-error @below {{has 640 codes and 3 scales for 640 elements, expected a code for each and 10 scales (quantize_c1)}}
  %x = mtc.dequantize_blocks %c, %s by <dynamic8> : tensor<10x64xui8>, tensor<3xf32> -> tensor<640xf32>
  return
}

// -----

func.func @pack_c1_rows(%c: tensor<4x32xui8>) {
  // expected-error @below {{packs 128 codes in 64 bytes, expected two codes of four bits in each, in whole blocks of the map (pack_c1)}}
  %b = mtc.pack_codes %c by <dynamic4> : tensor<4x32xui8> -> tensor<64xui8>
  return
}

// -----

func.func @pack_c1_bits(%c: tensor<256xui8>) {
  // expected-error @below {{packs 256 codes in 128 bytes, expected two codes of four bits in each, in whole blocks of the map (pack_c1)}}
  %b = mtc.pack_codes %c by <dynamic8> : tensor<256xui8> -> tensor<128xui8>
  return
}

// -----

func.func @pack_c1_blocks(%b: tensor<65xui8>) {
  // expected-error @below {{packs 130 codes in 65 bytes, expected two codes of four bits in each, in whole blocks of the map (pack_c1)}}
  %c = mtc.unpack_codes %b by <dynamic4> : tensor<65xui8> -> tensor<130xui8>
  return
}

// -----

func.func @kernel_c8_all(%x: tensor<512xf32>) {
  // expected-error @below {{512 iterations: expected iterations that end in the last row of a two-dimensional space, without reduced dimensions and added results (kernel_c8)}}
  %y = mtc.kernel [2, 256] iterations 512 (%x) : (tensor<512xf32>) -> tensor<512xf32> {
  ^body(%a: tensor<512xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 256 + d1)> : tensor<512xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0 * 256 + d1)>] : f32
  }
  return
}

// -----

func.func @kernel_c8_reduced(%x: tensor<300xf32>) {
  // expected-error @below {{300 iterations: expected iterations that end in the last row of a two-dimensional space, without reduced dimensions and added results (kernel_c8)}}
  %y = mtc.kernel [2, 256] iterations 300 reduce [0] (%x) : (tensor<300xf32>) -> tensor<256xf32> {
  ^body(%a: tensor<300xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0 * 256 + d1)> : tensor<300xf32> -> f32
    %r = mtc.kernel.reduce add %v : f32
    mtc.kernel.yield %r at [affine_map<(d0, d1) -> (d1)>] : f32
  }
  return
}
