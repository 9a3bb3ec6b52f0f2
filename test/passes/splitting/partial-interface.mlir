// RUN: not mtc-opt %s -mtc-exchange-partials 2>&1 | FileCheck %s

// CHECK: error: @f has an argument or result of 'tensor<4xf32, #mtc.partial<add, ranks = 2>>', expected a whole value; compute it by 'mtc.all_reduce'
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32, #mtc.partial<add, ranks = 2>> {
  %p = mtc.partial %a : tensor<4xf32> -> tensor<4xf32, #mtc.partial<add, ranks = 2>>
  return %p : tensor<4xf32, #mtc.partial<add, ranks = 2>>
}
