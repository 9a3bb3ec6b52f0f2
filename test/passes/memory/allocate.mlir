// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s

// The arena has variables first, then inputs, then values. A view is stored in its source. Column sums are not fused into a contraction, so
// that there are two launches. The elementwise one overwrites its operand, which is dead afterwards.
// CHECK: mtc.arena size 256 live 256
// CHECK: mtc.variable  parameter @w : tensor<16xf32> = #mtc.zeros at 0
// CHECK: mtc.step @f reads ["x"] [#mtc.at<64, tensor<2x16xf32>>] gives ["y"] [#mtc.at<192, tensor<16x1xf32>>]
// CHECK-NEXT: mtc.launch @{{.*}} [#mtc.at<64, tensor<2x16xf32>>] into [#mtc.at<192, tensor<16xf32>>]
// CHECK-NEXT: mtc.launch @{{.*}} [#mtc.at<192, tensor<16xf32>>, #mtc.at<0, tensor<16xf32>>] into [#mtc.at<192, tensor<16xf32>>]
module {
  mtc.variable parameter @w : tensor<16xf32> = #mtc.zeros
  func.func @f(%x: tensor<2x16xf32> {mtc.name = "x"}) -> (tensor<16x1xf32> {mtc.name = "y"}) {
    %w = mtc.read @w : tensor<16xf32>
    %s = mtc.reduce add %x axes [0] : tensor<2x16xf32> -> tensor<16xf32>
    %a = mtc.mul %s, %w : tensor<16xf32>
    %r = mtc.reshape %a : tensor<16xf32> -> tensor<16x1xf32>
    return %r : tensor<16x1xf32>
  }
}

// -----

// A value that is written to a variable is computed in the memory of the variable. An update in place needs no memory.
// CHECK: mtc.arena size 192 live 192
// CHECK: mtc.step @update
// CHECK-NEXT: mtc.launch @kernel_0 [#mtc.at<0, tensor<48xf32>>] into [#mtc.at<0, tensor<48xf32>>]
// CHECK-NOT: mtc.copy
module {
  mtc.variable parameter @a : tensor<20xf32> = #mtc.zeros
  mtc.variable parameter @b : tensor<16xf32> = #mtc.zeros
  func.func @update() {
    %p = mtc.read_flat [@a, @b] : tensor<48xf32>
    %h = mtc.constant dense<0.5> : tensor<48xf32>
    %n = mtc.mul %p, %h : tensor<48xf32>
    mtc.write_flat [@a, @b], %n : tensor<48xf32>
    return
  }
}

// -----

// The old value has users after the write, so the new value is computed elsewhere and copied after these users.
// CHECK: mtc.step @swap
// CHECK-NEXT: mtc.launch @{{.*}} [#mtc.at<64, tensor<16xf32>>] into [#mtc.at<[[NEW:[0-9]+]], tensor<16xf32>>]
// CHECK-NEXT: mtc.launch @{{.*}} [#mtc.at<0, tensor<16xf32>>]
// CHECK-NEXT: mtc.copy <[[NEW]], tensor<16xf32>> into <0, tensor<16xf32>>
module {
  mtc.variable state @v : tensor<16xf32> = #mtc.zeros
  func.func @swap(%x: tensor<16xf32> {mtc.name = "x"}) -> (tensor<16xf32> {mtc.name = "y"}) {
    %old = mtc.read @v : tensor<16xf32>
    %new = mtc.cumulative_sum %x axis 0 : tensor<16xf32>
    mtc.write @v, %new : tensor<16xf32>
    %y = mtc.cumulative_sum %old axis 0 : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// -----

// Equal kernels are one function, launched twice.
// CHECK-COUNT-1: mtc.kernel_function
// CHECK-NOT: mtc.kernel_function
// CHECK: mtc.launch @kernel_0
// CHECK: mtc.launch @kernel_0
module {
  func.func @f(%x: tensor<16xf32> {mtc.name = "x"}, %z: tensor<16xf32> {mtc.name = "z"})
      -> (tensor<16xf32> {mtc.name = "a"}, tensor<16xf32> {mtc.name = "b"}) {
    %a = mtc.exp %x : tensor<16xf32>
    %b = mtc.exp %z : tensor<16xf32>
    return %a, %b : tensor<16xf32>, tensor<16xf32>
  }
}

// -----

// Data becomes a variable that is never written.
// CHECK: mtc.variable  constant @mtc.constant : tensor<2xf32> = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> at
module {
  func.func @f() -> (tensor<2xf32> {mtc.name = "y"}) {
    %d = mtc.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %y = mtc.exp %d : tensor<2xf32>
    return %y : tensor<2xf32>
  }
}

// -----

// An operand of a call that is a view is stored inside its source: the second half of each row has an offset of 32 bytes.
// CHECK: mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8, lhs_strides = [16, 1], rhs_strides = [2, 1], out_strides = [2, 1]>
// CHECK-SAME: [#mtc.at<32, tensor<4x8xf32>>, #mtc.at<256, tensor<8x2xf32>>] into [#mtc.at<320, tensor<4x2xf32>>]
module {
  func.func @f(%x: tensor<4x16xf32> {mtc.name = "x"}, %w: tensor<8x2xf32> {mtc.name = "w"})
      -> (tensor<4x2xf32> {mtc.name = "y"}) {
    %h = mtc.slice %x offsets [0, 8] strides [1, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
    %y = mtc.contract %h, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }
}

// -----

// Attention has the given layouts, and a broadcast mask has strides of 0.
// CHECK: mtc.call #mtc.attention<type = f32, has_mask = 1, is_causal = 1, batch = 1, heads = 2, key_heads = 1, queries = 4, keys = 4, width = 16, value_width = 16, scale = 2.500000e-01
// CHECK-SAME: query = [128, 64, 16, 1], key = [64, 64, 16, 1], value = [64, 64, 16, 1], mask = [0, 0, 0, 1], out = [128, 16, 32, 1]>
// CHECK-SAME: [#mtc.at<0, tensor<1x2x4x16xf32>>, #mtc.at<512, tensor<1x1x4x16xf32>>, #mtc.at<512, tensor<1x1x4x16xf32>>, #mtc.at<768, tensor<1x1x1x4xi1>>]
// CHECK-SAME: into [#mtc.at<{{[0-9]+}}, tensor<1x4x2x16xf32>>, #mtc.at<{{[0-9]+}}, tensor<1x2x4xf32>>] until
module {
  func.func @f(%q: tensor<1x2x4x16xf32> {mtc.name = "q"}, %k: tensor<1x1x4x16xf32> {mtc.name = "k"},
               %m: tensor<1x1x1x4xi1> {mtc.name = "m"}) -> (tensor<1x4x2x16xf32> {mtc.name = "y"}) {
    %o, %s = mtc.attention %q, %k, %k mask %m causal 0 scale 0.25
      : (tensor<1x2x4x16xf32>, tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>, tensor<1x1x1x4xi1>)
        -> (tensor<1x2x4x16xf32>, tensor<1x2x4xf32>)
    %y = mtc.transpose %o [0, 2, 1, 3] : tensor<1x2x4x16xf32> -> tensor<1x4x2x16xf32>
    return %y : tensor<1x4x2x16xf32>
  }
}

// -----

// In the gradient with 16-bit elements, the heads of `out` are an inner axis, as the forward call wrote them.
// CHECK: mtc.call #mtc.attention_gradient<type = bf16, has_out = 1, batch = 1, heads = 2, key_heads = 2,
// CHECK-SAME: out = [128, 64, 16, 1], saved_out = [0, 16, 32, 1], d_query = [128, 64, 16, 1]
module {
  func.func @f(%q: tensor<1x2x4x16xbf16> {mtc.name = "q"}, %s: tensor<1x2x4xf32> {mtc.name = "s"},
               %d: tensor<1x2x4x16xbf16> {mtc.name = "d"}, %o: tensor<1x4x2x16xbf16> {mtc.name = "o"})
      -> (tensor<1x2x4x16xbf16> {mtc.name = "dq"}, tensor<1x2x4x16xbf16> {mtc.name = "dk"}) {
    %t = mtc.transpose %o [0, 2, 1, 3] : tensor<1x4x2x16xbf16> -> tensor<1x2x4x16xbf16>
    %dq, %dk, %dv = mtc.attention_gradient %q, %q, %q scale 0.25 of %s, %s, %d out %t
      : (tensor<1x2x4x16xbf16>, tensor<1x2x4x16xbf16>, tensor<1x2x4x16xbf16>, tensor<1x2x4xf32>, tensor<1x2x4xf32>,
         tensor<1x2x4x16xbf16>, tensor<1x2x4x16xbf16>)
        -> (tensor<1x2x4x16xbf16>, tensor<1x2x4x16xbf16>, tensor<1x2x4x16xbf16>)
    return %dq, %dk : tensor<1x2x4x16xbf16>, tensor<1x2x4x16xbf16>
  }
}

// -----

// A contraction accumulates in place if its last addend is dead afterwards: in a variable that is assigned the sum with its old value, and
// in the buffer of another call's result. Other addends are read from their buffers.
// CHECK: mtc.step @accumulate
// CHECK-NEXT: mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 3, lhs_strides = [3, 1], rhs_strides = [2, 1], out_strides = [2, 1], accumulate = 1> {{.*}} into [#mtc.at<0, tensor<4x2xf32>>]
// CHECK-NEXT: mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 3, lhs_strides = [3, 1], rhs_strides = [2, 1], out_strides = [2, 1]> {{.*}} into [#mtc.at<[[P:[0-9]+]], tensor<4x2xf32>>]
// CHECK-NEXT: mtc.call {{.*}}, accumulate = 1, addend_count = 1, addend_strides = {{\[\[2, 1\]\]}}> [{{.*}}, {{.*}}, #mtc.at<[[R:[0-9]+]], tensor<4x2xf32>>] into [#mtc.at<[[P]], tensor<4x2xf32>>]
module {
  mtc.variable gradient @g : tensor<4x2xf32> = #mtc.zeros
  func.func @accumulate(%x: tensor<4x3xf32> {mtc.name = "x"}, %y: tensor<3x2xf32> {mtc.name = "y"},
                        %v: tensor<3x2xf32> {mtc.name = "v"}, %r: tensor<4x2xf32> {mtc.name = "r"})
      -> (tensor<4x2xf32> {mtc.name = "z"}) {
    %old = mtc.read @g : tensor<4x2xf32>
    %p = mtc.contract %x, %y batch [] x [] over [1] x [0] : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
    %new = mtc.add %old, %p : tensor<4x2xf32>
    mtc.write @g, %new : tensor<4x2xf32>
    %q = mtc.contract %x, %v batch [] x [] over [1] x [0] : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
    %s = mtc.fused_contract %x, %y batch [] x [] over [1] x [0] adding %r, %q : tensor<4x2xf32>, tensor<4x2xf32>
           : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
    return %s : tensor<4x2xf32>
  }
}

// -----

// Operands and results of an epilogue have separate offsets; the sums are adjacent.
// CHECK: mtc.step @epilogues
// CHECK-NEXT: mtc.call #mtc.contraction<type = f32, m = 4, n = 16, k = 8, {{.*}}, activation = gelu, has_auxiliary = 1>
// CHECK-SAME: [#mtc.at<0, tensor<4x8xf32>>, #mtc.at<{{[0-9]+}}, tensor<8x16xf32>>] into [#mtc.at<[[Y:[0-9]+]], tensor<4x16xf32>>, #mtc.at<[[Z:[0-9]+]], tensor<4x16xf32>>]
// CHECK-NEXT: mtc.call #mtc.contraction<type = f32, m = 4, n = 16, k = 16, {{.*}}, activation = gelu_gradient, summed = result>
// CHECK-SAME: [#mtc.at<[[Y]], tensor<4x16xf32>>, #mtc.at<{{[0-9]+}}, tensor<16x16xf32>>, #mtc.at<[[Z]], tensor<4x16xf32>>] into [#mtc.at<{{[0-9]+}}, tensor<4x16xf32>>, #mtc.at<{{[0-9]+}}, tensor<16xf32>>]
module {
  func.func @epilogues(%x: tensor<4x8xf32> {mtc.name = "x"}, %w: tensor<8x16xf32> {mtc.name = "w"}, %v: tensor<16x16xf32> {mtc.name = "v"})
      -> (tensor<4x16xf32> {mtc.name = "d"}, tensor<16xf32> {mtc.name = "s"}) {
    %y, %z = mtc.fused_contract %x, %w batch [] x [] over [1] x [0] then gelu
               : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<4x16xf32>
    %d, %s = mtc.fused_contract %y, %v batch [] x [] over [1] x [0] then gelu_gradient at %z : tensor<4x16xf32> summing result
               : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32> sums tensor<16xf32>
    return %d, %s : tensor<4x16xf32>, tensor<16xf32>
  }
}

// -----

// Channels are the last axis of the tensors of a convolution.
// CHECK: mtc.call #mtc.convolution<type = f32, window_rank = 2, batch = 2, groups = 1, input_channels = 16, output_channels = 32, input = [8, 8], output = [4, 4], kernel = [3, 3], strides = [2, 2], dilations = [1, 1], before = [1, 1]>
// CHECK-SAME: [#mtc.at<0, tensor<2x8x8x16xf32>>, #mtc.at<8192, tensor<32x16x3x3xf32>>] into [#mtc.at<26624, tensor<2x4x4x32xf32>>] until
module {
  func.func @f(%x: tensor<2x8x8x16xf32> {mtc.name = "x"}, %w: tensor<32x16x3x3xf32> {mtc.name = "w"}) -> (tensor<2x4x4x32xf32> {mtc.name = "y"}) {
    %y = mtc.convolve %x, %w before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<2x8x8x16xf32>, tensor<32x16x3x3xf32>) -> tensor<2x4x4x32xf32>
    return %y : tensor<2x4x4x32xf32>
  }
}
