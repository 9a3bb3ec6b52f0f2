// If the maximum magnitude of a row is finite, its elements need no checks for NaN.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s
// RUN: mtc-run --check %s | FileCheck %s --check-prefix=NUMBERS

// One row has an infinite element, and one a NaN: a first pass without checks is followed by one of two versions of the other passes.
// CHECK-LABEL: @mtc_kernel.two
// CHECK: scf.for
// CHECK-NOT: arith.cmpf
// CHECK: %[[MAXIMA:.*]]:2 = scf.for
// CHECK-NOT: arith.cmpf
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK-NOT: arith.cmpf olt
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-2: arith.cmpf olt
// CHECK: scf.for
// CHECK: llvm.return
// NUMBERS: @two: {{.*}} ok
mtc.kernel_function @two [9, 200] reduce [1] -> [tensor<9x200xf32>, tensor<9x200xf32>, tensor<9xf32>] {
^body(%a: tensor<9x200xf32>, %b: tensor<9x200xf32>):
  %zero = arith.constant 0.0 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %mask = arith.constant 2147483647 : i32
  %first = arith.constant 777 : i64
  %second = arith.constant 1234 : i64
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d0 * 200 + d1)>
  %isFirst = arith.cmpi eq, %i, %first : i64
  %isSecond = arith.cmpi eq, %i, %second : i64
  %loaded = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x200xf32> -> f32
  %factor = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x200xf32> -> f32
  %x = arith.select %isFirst, %infinity, %loaded : f32
  %square = arith.mulf %factor, %factor : f32
  %y = arith.select %isSecond, %nan, %square : f32
  %absX = math.absf %x : f32
  %absY = math.absf %y : f32
  %isXFinite = arith.cmpf olt, %absX, %infinity : f32
  %isYFinite = arith.cmpf olt, %absY, %infinity : f32
  %isFinite = arith.andi %isXFinite, %isYFinite : i1
  %keptX = arith.select %isFinite, %x, %zero : f32
  %keptY = arith.select %isFinite, %y, %zero : f32
  %bitsX = arith.bitcast %keptX : f32 to i32
  %bitsY = arith.bitcast %keptY : f32 to i32
  %magnitudeX = arith.andi %bitsX, %mask : i32
  %magnitudeY = arith.andi %bitsY, %mask : i32
  %maximumX = mtc.kernel.reduce max %magnitudeX : i32
  %maximumY = mtc.kernel.reduce max %magnitudeY : i32
  %scaleX = arith.bitcast %maximumX : i32 to f32
  %scaleY = arith.bitcast %maximumY : i32 to f32
  %scaledX = arith.divf %keptX, %scaleX : f32
  %scaledY = arith.divf %keptY, %scaleY : f32
  mtc.kernel.yield %scaledX, %scaledY, %scaleX at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] : f32, f32, f32
}

// The maximum magnitude of x does not imply that y is finite.
// CHECK-LABEL: @mtc_kernel.other
// CHECK-NOT: scf.if
// CHECK: llvm.return
// NUMBERS: @other: {{.*}} ok
mtc.kernel_function @other [9, 256] reduce [1] -> [tensor<9x256xf32>] {
^body(%a: tensor<9x256xf32>, %b: tensor<9x256xf32>):
  %zero = arith.constant 0.0 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %mask = arith.constant 2147483647 : i32
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x256xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x256xf32> -> f32
  %absY = math.absf %y : f32
  %isFinite = arith.cmpf olt, %absY, %infinity : f32
  %kept = arith.select %isFinite, %x, %zero : f32
  %bits = arith.bitcast %kept : f32 to i32
  %magnitude = arith.andi %bits, %mask : i32
  %maximum = mtc.kernel.reduce max %magnitude : i32
  %scale = arith.bitcast %maximum : i32 to f32
  %scaled = arith.divf %kept, %scale : f32
  mtc.kernel.yield %scaled at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}
