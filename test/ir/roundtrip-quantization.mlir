// Every operation of QuantizationOps.td in the form of the example in its record.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @blocks
func.func @blocks(%c: tensor<600xui8>, %s: tensor<3xf32>) -> (tensor<600xui8>, tensor<3xf32>) {
  // CHECK: mtc.dequantize_blocks %{{.*}}, %{{.*}} by <dynamic8> : tensor<600xui8>, tensor<3xf32> -> tensor<600xf32>
  %x = mtc.dequantize_blocks %c, %s by <dynamic8> : tensor<600xui8>, tensor<3xf32> -> tensor<600xf32>
  // CHECK: mtc.quantize_blocks %{{.*}} by <unsigned_dynamic8> : tensor<600xf32> -> tensor<600xui8>, tensor<3xf32>
  %d, %t = mtc.quantize_blocks %x by <unsigned_dynamic8> : tensor<600xf32> -> tensor<600xui8>, tensor<3xf32>
  return %d, %t : tensor<600xui8>, tensor<3xf32>
}

// CHECK-LABEL: func.func @rows
func.func @rows(%b: tensor<10x32xui8>, %s: tensor<10xf32>) -> (tensor<10x32xui8>, tensor<10xf32>) {
  // CHECK: mtc.unpack_codes %{{.*}} by <dynamic4> : tensor<10x32xui8> -> tensor<10x64xui8>
  %c = mtc.unpack_codes %b by <dynamic4> : tensor<10x32xui8> -> tensor<10x64xui8>
  // CHECK: mtc.dequantize_blocks %{{.*}}, %{{.*}} by <dynamic4> : tensor<10x64xui8>, tensor<10xf32> -> tensor<640xf32>
  %x = mtc.dequantize_blocks %c, %s by <dynamic4> : tensor<10x64xui8>, tensor<10xf32> -> tensor<640xf32>
  // CHECK: mtc.quantize_blocks %{{.*}} by <dynamic4> : tensor<640xf32> -> tensor<10x64xui8>, tensor<10xf32>
  %d, %t = mtc.quantize_blocks %x by <dynamic4> : tensor<640xf32> -> tensor<10x64xui8>, tensor<10xf32>
  // CHECK: mtc.pack_codes %{{.*}} by <dynamic4> : tensor<10x64xui8> -> tensor<10x32xui8>
  %p = mtc.pack_codes %d by <dynamic4> : tensor<10x64xui8> -> tensor<10x32xui8>
  return %p, %t : tensor<10x32xui8>, tensor<10xf32>
}

// CHECK-LABEL: func.func @packed
func.func @packed(%b: tensor<128xui8>) -> tensor<128xui8> {
  // CHECK: mtc.unpack_codes %{{.*}} by <dynamic4> : tensor<128xui8> -> tensor<256xui8>
  %c = mtc.unpack_codes %b by <dynamic4> : tensor<128xui8> -> tensor<256xui8>
  // CHECK: mtc.pack_codes %{{.*}} by <unsigned_linear4> : tensor<256xui8> -> tensor<128xui8>
  %p = mtc.pack_codes %c by <unsigned_linear4> : tensor<256xui8> -> tensor<128xui8>
  return %p : tensor<128xui8>
}
