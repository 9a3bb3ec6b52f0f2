//===- CallPasses.td - Preparation and fusion of library calls ----------------------------------===//

#ifndef MTC_PASSES_CALLS
#define MTC_PASSES_CALLS

include "mlir/Pass/PassBase.td"

def PrepareCalls : Pass<"mtc-prepare-calls", "::mlir::func::FuncOp"> {
  let summary = "fold transposes and reshapes into library calls";
  let description = [{
    Data movement before a call's operand (transposes, slices, broadcasts, and reshapes between them) becomes one
    `mtc.strided_view`, as far up as the call accepts the layout and the target's library does not support it less well. An
    operand in a layout that the call does not accept is copied to an accepted layout. A transpose of a result is folded into
    the call.

    A call that would be slower in the library than as a kernel, such as a contraction of tiny matrices, becomes a kernel. The
    choice is made once, for the layouts that the library would have received; the kernel reads the original operands, so that
    the data movement before them can be fused into the kernel later. In programs with `--tensor`, `--context` or chunks, calls stay
    calls: a kernel has another order of sums, and extents of parts must not decide.

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
    A sum stored by a kernel, one of whose terms is the result of a library call without other users, is fused into the call:
    a bias, a residual, an accumulator, or another call's result. Each of several calls adds the result of the call before it,
    so that all share one buffer. The kernel then reads the sum, or is erased. A sum that is only an intermediate value of the
    kernel stays in the kernel, where it causes no memory traffic.

    The addends of a 16-bit result may be f32. A kernel that rounds such a sum, or only a call's f32 result, to the 16-bit type
    of the call's operands is fused into the call as well: sums are rounded once.

    The target's library must be as fast with the addition as without. No computation is delayed. Remarks of the category
    `mtc-fuse-epilogues` report fused sums, and the reason for each sum that is not fused.

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
    A kernel that computes only relu(z) or gelu(z) (the tanh approximation) is fused into a library call if z is the call's
    result, or the sum of the result and one addend. Without fusion, the kernel reads z only to write a matrix of the same size.
    If the gradient reads z, the call stores it as an auxiliary output, at the same cost as before. A kernel that computes only a
    call's result times gelu's gradient at a matrix is fused into that call, too. In both cases fusion saves a read and a write
    of a matrix and a launch, and stores no additional matrix; a kernel that computes anything else has to read z anyway and is
    not fused.

    gelu and its gradient are recognized by evaluation, whatever operations compute them. ReLU's gradient stays a kernel: it
    reads a result that is stored anyway, whereas the library requires an additional bit mask.

    The target's library must be as fast with the activation as without. Support depends on the precision: GPU libraries may
    approximate activations and do not specify their behavior for NaN, so they are not used where f32 must be exact.

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
    The gradient of a bias is a sum over the rows of a matrix. A contraction either wrote this matrix or, for the weight's
    gradient, contracts it over the same rows. A kernel that only computes such a sum reads the matrix once more, whereas the call
    has the elements in registers. The call is moved up to the first user of the sum if its operands are available there.

    A sum that is accumulated in a kernel that visits the matrix anyway costs nothing: `mtc-fuse-column-sums` runs first, and this
    pass handles the remaining sums. The target's library must be as fast with the sum as without.

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
