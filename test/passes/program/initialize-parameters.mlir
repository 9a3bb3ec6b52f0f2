// RUN: mtc-opt %s --mtc-initialize-parameters=init=*:normal=0.02 | FileCheck %s --check-prefixes=CHECK,DRAWN
// RUN: mtc-opt %s --mtc-initialize-parameters=init=normal:0.02 | FileCheck %s --check-prefixes=CHECK,DRAWN
// RUN: mtc-opt %s --mtc-initialize-parameters | FileCheck %s --check-prefixes=CHECK,READ
// RUN: not mtc-opt %s --mtc-initialize-parameters=init=*:normal=-1 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: --init *:normal=-1: normal=-1: expected a number
// RUN: not mtc-opt %s --mtc-initialize-parameters=init=normal=0.02 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: --init normal=0.02: no layer is known to which these parameters belong: 'w' (tensor<8x4xf32>); specify their initial values, such as --init 'NAME:normal=0.02'

// The pipeline has the option too, and rejects the same values before anything runs.
// RUN: not mtc-opt %s --mtc-training-pipeline="init=uniform" 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: --init uniform: uniform: expected uniform=N with the bound

// DRAWN: mtc.variable parameter @w : tensor<8x4xf32> = #mtc.normal<2.000000e-02 : f64>
// READ: mtc.variable parameter @w : tensor<8x4xf32> = #mtc.initializer<"w">
mtc.variable parameter @w : tensor<8x4xf32> = #mtc.initializer<"w">
// Constants and state keep the values of the model, unless their data is missing.
// CHECK: @table : tensor<8xf32> = #mtc.initializer<"table">
mtc.variable constant @table : tensor<8xf32> = #mtc.initializer<"table">
// DRAWN: @lost : tensor<8xf32> = #mtc.normal<2.000000e-02 : f64>
// READ: @lost : tensor<8xf32> = #mtc.initializer<"lost", missing>
mtc.variable constant @lost : tensor<8xf32> = #mtc.initializer<"lost", missing>
// Other initial values do not change.
// CHECK: @zeros : tensor<4xf32> = #mtc.zeros
mtc.variable parameter @zeros : tensor<4xf32> = #mtc.zeros
