//===- KernelPasses.td - From operations to kernels ---------------------------------------------===//

#ifndef MTC_PASSES_KERNELS
#define MTC_PASSES_KERNELS

include "mlir/Pass/PassBase.td"

def CompactScatter : Pass<"mtc-compact-scatter", "::mlir::func::FuncOp"> {
  let summary = "compact the gradient of an embedding to the rows in use";
  let description = [{
    The gradient of an embedding is a table as long as the vocabulary, zero but for the rows that a batch names. Where
    `mtc.scatter_add` adds few vectors into a long table, they are summed in a table with a row for each of them, and
    the long one becomes elementwise: row r is the short table's row at `place[r]`, or zero. What reads it, such as a
    fused update, then reads the short table, and the long one is never made. Sums have the same terms in the same
    order, so that no bit changes.

    Places come from the first update that names each row; finding these compares all pairs of indices.

    ```mlir
    %g = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<8x16xf32>, tensor<8xi64> -> tensor<1000x16xf32>
    // becomes
    %place = mtc.scatter_add %first, %i axis 0 batch 0 : tensor<8xi64>, tensor<8xi64> -> tensor<1000xi64>
    %s = mtc.scatter_add %u, %own axis 0 batch 0 : tensor<8x16xf32>, tensor<8xi64> -> tensor<8x16xf32>
    %r = mtc.gather %s, %place axis 0 batch 0 : tensor<8x16xf32>, tensor<1000xi64> -> tensor<1000x16xf32>
    %g = mtc.select %named, %r, %zero : tensor<1000x16xi1>, tensor<1000x16xf32>
    ```
  }];
  let options = [
    Option<"maxIndices", "max-indices", "int64_t", "16384", "most indices that are compared with each other">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FormKernels : Pass<"mtc-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "lower operations to kernels";
  let description = [{
    Afterwards values are computed by `mtc.kernel` and by operations whose fusible shape is opaque (library calls).
    Views stay. A splat constant is a scalar of the kernels that read it, and a kernel of its own where something else
    does.

    ```mlir
    %y = mtc.exp %x : tensor<8xf32>
    ```
    becomes
    ```mlir
    %y = mtc.kernel [8] (%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %0 = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
      %1 = math.exp %0 : f32
      mtc.kernel.yield %1 at [affine_map<(d0) -> (d0)>] : f32
    }
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FuseKernels : Pass<"mtc-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "fuse kernels that share values";
  let description = [{
    1. A kernel that reads through a view reads what the view is of, where the index stays affine without divisions.
    2. An elementwise producer is computed where its result is read, at the points that are read: if nothing else needs
       its result and no element is computed twice; if it only moves elements; or if it is so cheap that each of its
       readers had better compute it than read it.
    3. Kernels over the same points become one with the results of both: an elementwise kernel and a reduction of its
       rows, several reductions of a row, what is computed of a row from its reductions. Softmax, a normalization or a
       cross-entropy end as one kernel, which touches memory once. Spaces are brought together by splitting dimensions;
       a kernel with one point for each row joins one that visits the rows.

    A value that lives long is never moved across library calls for the sake of this. Remarks of the category
    `mtc-fuse-kernels` say what was joined, and for each value that still passes through memory why
    (`mtc compile --remarks FILE`).
  }];
  let options = [
    Option<"maxInputs", "max-inputs", "unsigned", "16", "most operands that a fused kernel may have">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "most operations that a fused body may hold">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect"];
}

def ComputeInReaders : Pass<"mtc-compute-in-readers", "::mlir::func::FuncOp"> {
  let summary = "duplicate elementwise producers into their users";
  let description = [{
    A large result of a kernel that only kernels read, behind a library call, is computed by these where they can do so
    elementwise, to the same bits, of values that are alive then all the same. It is neither kept nor written: the
    derivative of a GELU comes from its operand, as the GELU does, and not from the intermediate that both have in common.
    A kernel that reduces gives its other results to start from.

    ```mlir
    %y, %t = mtc.kernel [64] (%x) … yield (x * (1 + tanh x)), (tanh x)
    %d = mtc.contract %y, …
    %g = mtc.kernel [64] (%d, %x, %t) … yield (d * (1 + t + x * (1 - t * t)))
    // becomes
    %y = mtc.kernel [64] (%x) …
    %d = mtc.contract %y, …
    %g = mtc.kernel [64] (%d, %x) …
    ```
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "65536", "what takes less is kept">,
    Option<"maxInputs", "max-inputs", "unsigned", "16", "most operands that a kernel may have then">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "most operations that its body may hold then">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect"];
}

def FuseColumnSums : Pass<"mtc-fuse-column-sums", "::mlir::func::FuncOp"> {
  let summary = "fuse column sums into the kernels that produce or read the rows";
  let description = [{
    The gradient of a bias or of a norm's scale is a sum over all rows. Where a kernel computes the rows, or reads them for
    something else, it adds them up on the way, as a column sum (`mtc.kernel.yield … add`), and the kernel that read them once
    more only for the sum is gone.

    Partial sums take scratch; where that is more than a sixty-fourth of what the kernels move (and more than 1 MiB), the
    kernels stay apart. Remarks of the category `mtc-fuse-column-sums` say what was fused, and why a sum was not.

    ```mlir
    %y = mtc.kernel [32, 64] (%x) … yield %v at [(d0, d1) -> (d0, d1)]
    %s = mtc.kernel [32, 64] reduce [0] (%y) … yield %r at [(d0, d1) -> (d1)]
    // becomes
    %s, %y = mtc.kernel [32, 64] (%x) … yield %v, %v at [(d0, d1) -> (d1), (d0, d1) -> (d0, d1)] add [0]
    ```
  }];
  let options = [
    Option<"maxInputs", "max-inputs", "unsigned", "16", "most operands that a fused kernel may have">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "most operations that a fused body may hold">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_KERNELS
