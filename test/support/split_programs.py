"""Small programs whose layers `mtc-split-axes` divides, with the limit of their indices."""

MLP = """
mtc.variable parameter @w1 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @b1 : tensor<64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x16xf32> = #mtc.zeros
mtc.variable gradient @w1.grad : tensor<16x64xf32> = #mtc.zeros of @w1
mtc.variable gradient @w2.grad : tensor<64x16xf32> = #mtc.zeros of @w2
func.func @micro_step(%x: tensor<8x16xf32>, %d: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %w1 = mtc.read @w1 : tensor<16x64xf32>
  %b1 = mtc.read @b1 : tensor<64xf32>
  %w2 = mtc.read @w2 : tensor<64x16xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %bb = mtc.broadcast %b1 axes [0] : tensor<64xf32> -> tensor<8x64xf32>
  %hb = mtc.add %h, %bb : tensor<8x64xf32>
  %a = mtc.tanh %hb : tensor<8x64xf32>
  %y = mtc.contract %a, %w2 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
  %t = mtc.tanh %y : tensor<8x16xf32>
  %da = mtc.contract %d, %w2 batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<64x16xf32> -> tensor<8x64xf32>
  %dw2 = mtc.contract %a, %d batch [] x [] over [0] x [0] : tensor<8x64xf32>, tensor<8x16xf32> -> tensor<64x16xf32>
  %dw1 = mtc.contract %x, %da batch [] x [] over [0] x [0] : tensor<8x16xf32>, tensor<8x64xf32> -> tensor<16x64xf32>
  %dx = mtc.contract %da, %w1 batch [] x [] over [1] x [1] : tensor<8x64xf32>, tensor<16x64xf32> -> tensor<8x16xf32>
  mtc.write @w1.grad, %dw1 : tensor<16x64xf32>
  mtc.write @w2.grad, %dw2 : tensor<64x16xf32>
  return %t, %dx : tensor<8x16xf32>, tensor<8x16xf32>
}
"""

ATTENTION = """
mtc.variable parameter @qkv : tensor<32x96xf32> = #mtc.zeros
mtc.variable parameter @out : tensor<32x32xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %w = mtc.read @qkv : tensor<32x96xf32>
  %all = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<8x32xf32>, tensor<32x96xf32> -> tensor<8x96xf32>
  %q0 = mtc.slice %all offsets [0, 0] strides [1, 1] : tensor<8x96xf32> -> tensor<8x32xf32>
  %k0 = mtc.slice %all offsets [0, 32] strides [1, 1] : tensor<8x96xf32> -> tensor<8x32xf32>
  %v0 = mtc.slice %all offsets [0, 64] strides [1, 1] : tensor<8x96xf32> -> tensor<8x32xf32>
  %q1 = mtc.reshape %q0 : tensor<8x32xf32> -> tensor<1x8x4x8xf32>
  %k1 = mtc.reshape %k0 : tensor<8x32xf32> -> tensor<1x8x4x8xf32>
  %v1 = mtc.reshape %v0 : tensor<8x32xf32> -> tensor<1x8x4x8xf32>
  %q = mtc.transpose %q1 [0, 2, 1, 3] : tensor<1x8x4x8xf32> -> tensor<1x4x8x8xf32>
  %k = mtc.transpose %k1 [0, 2, 1, 3] : tensor<1x8x4x8xf32> -> tensor<1x4x8x8xf32>
  %v = mtc.transpose %v1 [0, 2, 1, 3] : tensor<1x8x4x8xf32> -> tensor<1x4x8x8xf32>
  %o, %lse = mtc.attention %q, %k, %v causal 0 scale 0.25
    : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8xf32>)
  %t = mtc.transpose %o [0, 2, 1, 3] : tensor<1x4x8x8xf32> -> tensor<1x8x4x8xf32>
  %r = mtc.reshape %t : tensor<1x8x4x8xf32> -> tensor<8x32xf32>
  %wo = mtc.read @out : tensor<32x32xf32>
  %y = mtc.contract %r, %wo batch [] x [] over [1] x [0] : tensor<8x32xf32>, tensor<32x32xf32> -> tensor<8x32xf32>
  %z = mtc.add %x, %y : tensor<8x32xf32>
  return %z : tensor<8x32xf32>
}
"""

EMBEDDING = """
mtc.variable parameter @table : tensor<256x16xf32> = #mtc.zeros
mtc.variable gradient @table.grad : tensor<256x16xf32> = #mtc.zeros of @table
func.func @micro_step(%i: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
  %w = mtc.read @table : tensor<256x16xf32>
  %x = mtc.gather %w, %i axis 0 batch 0 : tensor<256x16xf32>, tensor<8xi64> -> tensor<8x16xf32>
  %s = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<256x16xf32> -> tensor<8x256xf32>
  %m = mtc.reduce max %s axes [1] : tensor<8x256xf32> -> tensor<8xf32>
  %mb = mtc.broadcast %m axes [1] : tensor<8xf32> -> tensor<8x256xf32>
  %d = mtc.sub %s, %mb : tensor<8x256xf32>
  %e = mtc.exp %d : tensor<8x256xf32>
  %sum = mtc.reduce add %e axes [1] : tensor<8x256xf32> -> tensor<8xf32>
  %g = mtc.scatter_add %x, %i axis 0 batch 0 : tensor<8x16xf32>, tensor<8xi64> -> tensor<256x16xf32>
  mtc.write @table.grad, %g : tensor<256x16xf32>
  return %sum, %m : tensor<8xf32>, tensor<8xf32>
}
"""

CONVOLUTION = """
mtc.variable parameter @k1 : tensor<16x2x3xf32> = #mtc.zeros
mtc.variable parameter @k2 : tensor<4x16x3xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<2x8x2xf32>) -> tensor<2x8x4xf32> {
  %k1 = mtc.read @k1 : tensor<16x2x3xf32>
  %h = mtc.convolve %x, %k1 before [1] strides [1] dilations [1] : (tensor<2x8x2xf32>, tensor<16x2x3xf32>) -> tensor<2x8x16xf32>
  %t = mtc.tanh %h : tensor<2x8x16xf32>
  %k2 = mtc.read @k2 : tensor<4x16x3xf32>
  %y = mtc.convolve %t, %k2 before [1] strides [1] dilations [1] : (tensor<2x8x16xf32>, tensor<4x16x3xf32>) -> tensor<2x8x4xf32>
  %s = mtc.sin %y : tensor<2x8x4xf32>
  return %s : tensor<2x8x4xf32>
}
"""

# What follows the first sum is divided along its rows.
ROWS = """
mtc.variable parameter @w1 : tensor<8x64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x16xf32> = #mtc.zeros
mtc.variable parameter @w3 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @w4 : tensor<64x15xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<512x8xf32>) -> tensor<512x15xf32> {
  %w1 = mtc.read @w1 : tensor<8x64xf32>
  %w2 = mtc.read @w2 : tensor<64x16xf32>
  %w3 = mtc.read @w3 : tensor<16x64xf32>
  %w4 = mtc.read @w4 : tensor<64x15xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<512x8xf32>, tensor<8x64xf32> -> tensor<512x64xf32>
  %a = mtc.sin %h : tensor<512x64xf32>
  %y = mtc.contract %a, %w2 batch [] x [] over [1] x [0] : tensor<512x64xf32>, tensor<64x16xf32> -> tensor<512x16xf32>
  %t = mtc.tanh %y : tensor<512x16xf32>
  %z = mtc.contract %t, %w3 batch [] x [] over [1] x [0] : tensor<512x16xf32>, tensor<16x64xf32> -> tensor<512x64xf32>
  %b = mtc.sin %z : tensor<512x64xf32>
  %r = mtc.contract %b, %w4 batch [] x [] over [1] x [0] : tensor<512x64xf32>, tensor<64x15xf32> -> tensor<512x15xf32>
  return %r : tensor<512x15xf32>
}
"""

PROGRAMS = {"mlp": (MLP, 1), "attention": (ATTENTION, 1), "embedding": (EMBEDDING, 256), "convolution": (CONVOLUTION, 1), "rows": (ROWS, 1)}
