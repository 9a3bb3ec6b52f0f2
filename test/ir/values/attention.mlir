// Attention in decomposed form.
// RUN: mtc-opt %s -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// Without the option, attention is kept, because a library computes it.
// RUN: mtc-opt %s -mtc-decompose | FileCheck %s
// CHECK-COUNT-2: mtc.attention

func.func @bias(%q: tensor<2x2x3x2xf64>, %k: tensor<2x2x4x2xf64>, %v: tensor<2x2x4x5xf64>, %b: tensor<1x2x1x4xf64>)
    -> (tensor<2x2x3x5xf64>, tensor<2x2x3xf64>) {
  %o, %s = mtc.attention %q, %k, %v bias %b scale 0.5
    : (tensor<2x2x3x2xf64>, tensor<2x2x4x2xf64>, tensor<2x2x4x5xf64>, tensor<1x2x1x4xf64>)
      -> (tensor<2x2x3x5xf64>, tensor<2x2x3xf64>)
  return %o, %s : tensor<2x2x3x5xf64>, tensor<2x2x3xf64>
}
// expect @bias = ((lambda e: (np.einsum("bhij,bhjd->bhid", e / e.sum(3, keepdims=True), a2), np.log(e.sum(3))))(np.exp(np.einsum("bhid,bhjd->bhij", a0, a1) / 2 + a3)))

// No key is visible to row 0, so the result is 0 and the logsumexp is +inf. Heads 0 and 1 share a head of keys.
func.func @causal(%q: tensor<1x2x3x2xf64>, %k: tensor<1x1x3x2xf64>, %v: tensor<1x1x3x2xf64>)
    -> (tensor<1x2x3x2xf64>, tensor<1x2x3xf64>) {
  %o, %s = mtc.attention %q, %k, %v causal -1 scale 1.0
    : (tensor<1x2x3x2xf64>, tensor<1x1x3x2xf64>, tensor<1x1x3x2xf64>) -> (tensor<1x2x3x2xf64>, tensor<1x2x3xf64>)
  return %o, %s : tensor<1x2x3x2xf64>, tensor<1x2x3xf64>
}
// expect @causal = ((lambda e: (np.einsum("bhij,bgjd->bhid", e / np.maximum(e.sum(3, keepdims=True), 1e-300), a2), np.log(e.sum(3))*np.array([-1,1,1])))(np.exp(np.einsum("bhid,bgjd->bhij", a0, a1)) * np.tri(3, 3, -1)))
