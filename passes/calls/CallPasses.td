//===- CallPasses.td - Library calls: what they read, and their epilogues -----------------------===//

#ifndef MTC_PASSES_CALLS
#define MTC_PASSES_CALLS

include "mlir/Pass/PassBase.td"

def PrepareCalls : Pass<"mtc-prepare-calls", "::mlir::func::FuncOp"> {
  let summary = "fold transposes and reshapes into library calls";
  let description = [{
    Movements in front of a call's operand (transposes, slices, broadcasts, reshapes between them) become one
    `mtc.strided_view`, as far up as the call takes the layout and the target's library does not support it less
    well. An operand that the call does not take as it lies is copied to an order that it takes. A transposition of a
    result becomes the call's.

    A call that takes the library longer than a kernel, such as a product of tiny matrices, becomes a kernel. It is asked
    once, in the layouts that the library would have got; the kernel reads the operands as they were, and movements in
    front of them are fused into it later.

    ```mlir
    %t = mtc.transpose %x [1, 0, 2] : tensor<8x4x16xf32> -> tensor<4x8x16xf32>
    %y = mtc.contract %t, %w batch [0] x [0] over [2] x [1] : …
    ```
    becomes
    ```mlir
    %t = mtc.strided_view %x offset 0 strides [16, 64, 1] : tensor<8x4x16xf32> -> tensor<4x8x16xf32>
    %y = mtc.contract %t, %w batch [0] x [0] over [2] x [1] : …
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FuseEpilogues : Pass<"mtc-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "fuse additions into library calls";
  let description = [{
    A sum that a kernel stores, one of whose terms is a library call's result that nothing else reads, becomes the
    call's: a bias, a residual, what was accumulated before, another call's result. Of several calls each adds the
    result of the one before, so that all share one slice of memory. The kernel reads the sum, or is gone. A sum that the kernel
    needs only by itself, or together with what it computes, stays there: it costs no memory traffic.

    What is added to a result of 16 bits may be f32. A kernel that rounds such a sum, or only a call's f32 result, to the 16 bits
    of the call's operands is the call's, too: sums are rounded once.

    The target's library must be as fast with the addition as without. Nothing is computed later than before. Remarks of
    the category `mtc-fuse-epilogues` say what was fused, and why a sum was not.

    ```mlir
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
    %s = mtc.kernel [4, 2] (%p, %b) …   // %p[d0, d1] + %b[d1]
    ```
    becomes
    ```mlir
    %c = mtc.strided_view %b offset 0 strides [0, 1] : tensor<2xf32> -> tensor<4x2xf32>
    %s = mtc.contract %x, %w batch [] x [] over [1] x [0] adding %c : tensor<4x2xf32> : …
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FuseActivations : Pass<"mtc-fuse-activations", "::mlir::func::FuncOp"> {
  let summary = "fuse activations into library calls";
  let description = [{
    A kernel that gives nothing but relu(z) or gelu(z), the approximation by tanh, of a library call's result z, or of that
    and one addend, becomes the call's: it would read z only to write a matrix of the same size. Where the gradient reads z,
    the call keeps it, which costs what it did before. A kernel that gives nothing but a call's result times gelu's gradient
    at a matrix becomes that call's, too. In both cases a read and a write of a matrix and a launch are saved, and no matrix
    is stored that was not; a kernel that computes anything else has to read z anyway, and stays.

    gelu and its gradient are recognized by their values, in whatever operations they are written. ReLU's gradient stays a
    kernel: it reads the result that is stored anyway, where the library wants a mask of bits, written and read besides.

    The target's library must be as fast as without. It is asked with the precision in mind: a GPU's library may use
    approximations, and says nothing of NaN, so that it has none of these where f32 is to be exact.

    ```mlir
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    %a = mtc.kernel [4, 16] (%p, %b) …   // gelu(%p[d0, d1] + %b[d1])
    %g = mtc.kernel [4, 16] (%d, %p, %b) …   // that reads %p[d0, d1] + %b[d1]
    ```
    becomes
    ```mlir
    %c = mtc.strided_view %b offset 0 strides [0, 1] : tensor<16xf32> -> tensor<4x16xf32>
    %a, %z = mtc.fused_contract %x, %w batch [] x [] over [1] x [0] adding %c : tensor<4x16xf32> then gelu : …
    %g = mtc.kernel [4, 16] (%d, %z) …
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FuseBiasGradients : Pass<"mtc-fuse-bias-gradients", "::mlir::func::FuncOp"> {
  let summary = "fuse bias gradients into library calls";
  let description = [{
    The gradient of a bias is a sum over the rows of a matrix that the contraction for the weight's gradient contracts over
    the same rows, or that a contraction wrote. A kernel that only computes such a sum reads the matrix once more; the call
    has it in registers. It moves up to where the sum is needed, if its operands are there.

    A sum that a kernel adds up on the way costs nothing: `mtc-fuse-column-sums` comes first, and this takes what is left.
    The target's library must be as fast with the sum as without.

    ```mlir
    %s = mtc.kernel [32, 64] reduce [0] (%y) …   // sum over d0 of %y[d0, d1]
    %w = mtc.contract %y, %x batch [] x [] over [0] x [0] : tensor<32x64xf32>, tensor<32x8xf32> -> tensor<64x8xf32>
    // becomes
    %w, %s = mtc.fused_contract %y, %x batch [] x [] over [0] x [0] summing lhs
               : tensor<32x64xf32>, tensor<32x8xf32> -> tensor<64x8xf32> sums tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_CALLS
