// RUN: mtc-opt %s --mtc-find-index-ranges | FileCheck %s

// Values of an input that indexes a gather, directly or through another type or shape, are less than the smallest number of rows. Labels have the
// loss's range, unless a gather has fewer rows.
// CHECK: mtc.input "ids" axis "batch" indices <minimum = -5, limit = 5, ignored = -5, user = "/position">
// CHECK-NEXT: mtc.input "labels" label indices <minimum = 0, limit = 5, ignored = -100, user = "the loss">
// CHECK-NEXT: mtc.input "plain"{{$}}
mtc.program "model" stage training {
  mtc.input "ids" axis "batch"
  mtc.input "labels" label indices <minimum = 0, limit = 5, ignored = -100, user = "the loss">
  mtc.input "plain"
}
func.func @micro_step(%ids: tensor<2x2xi32> {mtc.name = "ids"}, %labels: tensor<4xi64> {mtc.name = "labels"}, %plain: tensor<4xi64> {mtc.name = "plain"},
                      %a: tensor<9x3xf32>, %b: tensor<5x3xf32>) {
  %wide = mtc.cast %ids : tensor<2x2xi32> -> tensor<2x2xi64>
  %flat = mtc.reshape %wide : tensor<2x2xi64> -> tensor<4xi64>
  %0 = mtc.gather %a, %flat axis 0 batch 0 : tensor<9x3xf32>, tensor<4xi64> -> tensor<4x3xf32> loc("/token")
  %1 = mtc.gather %b, %flat axis 0 batch 0 : tensor<5x3xf32>, tensor<4xi64> -> tensor<4x3xf32> loc("/position")
  %2 = mtc.gather %a, %labels axis 0 batch 0 : tensor<9x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %sum = mtc.add %plain, %plain : tensor<4xi64>
  %3 = mtc.gather %a, %sum axis 0 batch 0 : tensor<9x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  return
}
