// What the runtime writes has one type: a program that reads another would read other numbers.
// RUN: not mtc-run %s -o %t 2>&1 | FileCheck %s
// CHECK: errors.mlir":6:1): error: 'mtc.variable' op is 'tensor<f32>', but the runtime writes 'tensor<f64>'

mtc.arena size 64 live 64
mtc.variable scalar @learning_rate : tensor<f32> = #mtc.zeros at 0
