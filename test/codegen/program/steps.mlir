// Steps run on an arena, with launches, a contraction that accumulates, a copy, and variables with data.
// RUN: mtc-run %s | FileCheck %s

mtc.arena size 1024 live 1024
mtc.variable parameter @w : tensor<3x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32> at 0
mtc.variable scalar @step : tensor<i64> = #mtc.scalar<step> at 64

mtc.kernel_function @double [2, 3] -> [tensor<2x3xf32>] {
^body(%a: tensor<2x3xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2x3xf32> -> f32
  %y = arith.addf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK: y : tensor<2x2xf32> = 44 56 98 128
// CHECK-NEXT: copy : tensor<2x3xf32> = 2 4 6 8 10 12
mtc.step @main reads ["x"] [#mtc.at<128, tensor<2x3xf32>>]
    gives ["y", "copy"] [#mtc.at<256, tensor<2x2xf32>>, #mtc.at<320, tensor<2x3xf32>>]
    attributes {run.inputs = [dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>]} {
  mtc.launch @double [#mtc.at<128, tensor<2x3xf32>>] into [#mtc.at<192, tensor<2x3xf32>>]
  mtc.call #mtc.contraction<type = f32, m = 2, n = 2, k = 3, lhs_strides = [3, 1], rhs_strides = [2, 1], out_strides = [2, 1]>
    [#mtc.at<192, tensor<2x3xf32>>, #mtc.at<0, tensor<3x2xf32>>] into [#mtc.at<256, tensor<2x2xf32>>]
  mtc.copy #mtc.at<192, tensor<2x3xf32>> into #mtc.at<320, tensor<2x3xf32>>
}

// A contraction adds a row vector to each row, and a matrix.
// CHECK-NEXT: z : tensor<2x2xf32> = 90 116 198 260
mtc.step @adding reads [] [] gives ["z"] [#mtc.at<384, tensor<2x2xf32>>] attributes {run.inputs = []} {
  mtc.call #mtc.contraction<type = f32, m = 2, n = 2, k = 3, lhs_strides = [3, 1], rhs_strides = [2, 1], out_strides = [2, 1],
                            addend_count = 2, addend_strides = [[0, 1], [2, 1]]>
    [#mtc.at<192, tensor<2x3xf32>>, #mtc.at<0, tensor<3x2xf32>>, #mtc.at<192, tensor<2x2xf32>>, #mtc.at<256, tensor<2x2xf32>>]
    into [#mtc.at<384, tensor<2x2xf32>>]
}

// The arena keeps the results of the previous step, to which this step adds.
// CHECK-NEXT: y : tensor<2x2xf32> = 88 112 196 256
mtc.step @again reads [] [] gives ["y"] [#mtc.at<256, tensor<2x2xf32>>] attributes {run.inputs = []} {
  mtc.call #mtc.contraction<type = f32, m = 2, n = 2, k = 3, lhs_strides = [3, 1], rhs_strides = [2, 1], out_strides = [2, 1],
                            accumulate = 1>
    [#mtc.at<192, tensor<2x3xf32>>, #mtc.at<0, tensor<3x2xf32>>] into [#mtc.at<256, tensor<2x2xf32>>]
}
