// RUN: mtc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @no_axes
// CHECK-NEXT: return %arg0
func.func @no_axes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = mtc.reduce add %x axes [] : tensor<4xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func.func @splats
// CHECK-DAG: mtc.constant dense<1.200000e+01> : tensor<2xf32>
// CHECK-DAG: mtc.constant dense<9.000000e+00> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<3.000000e+00> : tensor<2xf32>
// CHECK-DAG: mtc.constant dense<-112> : tensor<i8>
// CHECK-DAG: mtc.constant dense<-31> : tensor<i8>
// CHECK-NEXT: return
func.func @splats() -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<i8>, tensor<i8>) {
  %c = mtc.constant dense<3.0> : tensor<2x4xf32>
  %add = mtc.reduce add %c axes [1] : tensor<2x4xf32> -> tensor<2xf32>
  %mul = mtc.reduce mul %c axes [0] : tensor<2x4xf32> -> tensor<4xf32>
  %max = mtc.reduce max %c axes [1] : tensor<2x4xf32> -> tensor<2xf32>
  // 3 * 48 = 144 and 15 * 15 = 225 wrap, as they do at run time.
  %i = mtc.constant dense<3> : tensor<48xi8>
  %sum = mtc.reduce add %i axes [0] : tensor<48xi8> -> tensor<i8>
  %k = mtc.constant dense<15> : tensor<2xi8>
  %product = mtc.reduce mul %k axes [0] : tensor<2xi8> -> tensor<i8>
  return %add, %mul, %max, %sum, %product : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<i8>, tensor<i8>
}

// An empty reduction is the neutral element.
// CHECK-LABEL: func.func @of_nothing
// CHECK-DAG: mtc.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<0xFF800000> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<true> : tensor<4xi1>
// CHECK-DAG: mtc.constant dense<-128> : tensor<4xi8>
// CHECK-NEXT: return
func.func @of_nothing(%x: tensor<0x4xf32>, %m: tensor<0x4xi1>, %n: tensor<0x4xi8>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi8>) {
  %a = mtc.reduce add %x axes [0] : tensor<0x4xf32> -> tensor<4xf32>
  %b = mtc.reduce max %x axes [0] : tensor<0x4xf32> -> tensor<4xf32>
  %c = mtc.reduce and %m axes [0] : tensor<0x4xi1> -> tensor<4xi1>
  %d = mtc.reduce max %n axes [0] : tensor<0x4xi8> -> tensor<4xi8>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi8>
}

// CHECK-LABEL: func.func @compose
// CHECK-NEXT: mtc.reduce add %arg0 axes [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
func.func @compose(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %a = mtc.reduce add %x axes [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
  %b = mtc.reduce add %a axes [1] : tensor<3x4xf32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// Sums of long rows remain separate if threads share the rows and would share no other work.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: mtc.reduce add %arg0 axes [1] : tensor<64x2048xf32> -> tensor<64xf32>
// CHECK-NEXT: mtc.reduce add {{.*}} axes [0] : tensor<64xf32> -> tensor<f32>
// CHECK-NEXT: mtc.reduce add %arg1 axes [0, 1] : tensor<63x2048xf32> -> tensor<f32>
func.func @rows(%x: tensor<64x2048xf32>, %y: tensor<63x2048xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = mtc.reduce add %x axes [1] : tensor<64x2048xf32> -> tensor<64xf32>
  %b = mtc.reduce add %a axes [0] : tensor<64xf32> -> tensor<f32>
  %c = mtc.reduce add %y axes [1] : tensor<63x2048xf32> -> tensor<63xf32>
  %d = mtc.reduce add %c axes [0] : tensor<63xf32> -> tensor<f32>
  return %b, %d : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @different_kinds
// CHECK: mtc.reduce max
// CHECK: mtc.reduce add
func.func @different_kinds(%x: tensor<2x3xf32>) -> tensor<f32> {
  %a = mtc.reduce max %x axes [0] : tensor<2x3xf32> -> tensor<3xf32>
  %b = mtc.reduce add %a axes [0] : tensor<3xf32> -> tensor<f32>
  return %b : tensor<f32>
}

// CHECK-LABEL: func.func @unit_axes
// CHECK-NEXT: mtc.reshape %arg0 : tensor<2x1x3x1xf32> -> tensor<2x3xf32>
func.func @unit_axes(%x: tensor<2x1x3x1xf32>) -> tensor<2x3xf32> {
  %a = mtc.reduce add %x axes [1, 3] : tensor<2x1x3x1xf32> -> tensor<2x3xf32>
  return %a : tensor<2x3xf32>
}
