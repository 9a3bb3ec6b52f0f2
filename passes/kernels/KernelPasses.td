//===- KernelPasses.td - Formation and fusion of kernels ----------------------------------------===//

#ifndef MTC_PASSES_KERNELS
#define MTC_PASSES_KERNELS

include "mlir/Pass/PassBase.td"

def CompactScatter : Pass<"mtc-compact-scatter", "::mlir::func::FuncOp"> {
  let summary = "compact the gradient of an embedding to the rows in use";
  let description = [{
    The gradient of an embedding is a table as long as the vocabulary, and zero except for the rows in the batch. If
    `mtc.scatter_add` adds few vectors into a long table, the vectors are summed in a compact table with one row per vector, and
    the long table becomes elementwise: row r is the compact table's row `place[r]`, or zero. Users, such as a fused update, then
    read the compact table, and the long table is never materialized. The order of summation does not change, so the result is
    bit-identical.

    The first update of each row determines its place; finding the first updates compares all pairs of indices.

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
    Option<"maxIndices", "max-indices", "int64_t", "16384", "maximum number of indices to compare pairwise">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FormKernels : Pass<"mtc-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "lower operations to kernels";
  let description = [{
    Afterwards values are computed by `mtc.kernel` and by operations whose fusible shape is opaque (library calls). Views are
    not changed. A splat constant becomes a scalar of the kernels that use it, and a separate kernel for other users.

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

def MergeEqual : Pass<"mtc-merge-equal"> {
  let summary = "merge equal operations and erase dead ones";
  let description = [{
    Like MLIR's `cse` within each block, in time linear in the operations: the hash of an operation includes its body, so that
    kernels that read one value are not all compared with each other. Of equal reads of a variable without a write between them,
    the first remains.

    ```mlir
    %a = mtc.exp %x : tensor<8xf32>
    %b = mtc.exp %x : tensor<8xf32>
    %c = mtc.add %a, %b : tensor<8xf32>
    ```
    becomes
    ```mlir
    %a = mtc.exp %x : tensor<8xf32>
    %c = mtc.add %a, %a : tensor<8xf32>
    ```
  }];
  let statistics = [Statistic<"merged", "merged", "operations that were merged or dead">];
}

def FuseKernels : Pass<"mtc-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "fuse kernels that share values";
  let description = [{
    1. A kernel that reads a view reads the view's source instead, if the index remains affine without divisions.
    2. An elementwise producer is inlined into its user, at the iterations that read its result: if the result has no other
       users and no element is computed twice; if the producer only moves elements; or if it is so cheap that recomputing it in
       each user is faster than reading its result.
    3. Kernels over the same iterations are fused into one kernel with the results of both: an elementwise kernel and a reduction
       of its rows, several reductions of a row, or elementwise operations on a row and its reductions. Softmax, a normalization
       or a cross-entropy becomes a single kernel, which accesses memory once. Iteration spaces are unified by splitting dims;
       a kernel with one iteration per row is fused with a kernel that visits the rows.

    Fusion never moves a value with a long live range across library calls. Remarks of the category `mtc-fuse-kernels` report
    fused kernels, and for each value that is still passed through memory the reason (`mtc compile --remarks FILE`).
  }];
  let options = [
    Option<"maxInputs", "max-inputs", "unsigned", "16", "maximum number of operands of a fused kernel">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "maximum number of operations of a fused kernel">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect"];
}

def ComputeInUsers : Pass<"mtc-compute-in-users", "::mlir::func::FuncOp"> {
  let summary = "duplicate elementwise producers into their users";
  let description = [{
    If only kernels after a library call use a large result of a kernel, they recompute the result, provided that they can do so
    elementwise and bit-exactly from values that are live there anyway. The result is then neither stored nor kept alive: the
    derivative of a GELU is computed from its operand, as the GELU is, and not from an intermediate value that both use. The
    other results of a kernel that reduces may be the starting iteration.

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
    Option<"minBytes", "min-bytes", "int64_t", "65536", "minimum size in bytes of results to recompute">,
    Option<"maxInputs", "max-inputs", "unsigned", "16", "maximum number of operands of a kernel that recomputes">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "maximum number of operations of a kernel that recomputes">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect"];
}

def FuseColumnSums : Pass<"mtc-fuse-column-sums", "::mlir::func::FuncOp"> {
  let summary = "fuse column sums into the kernels that produce or read the rows";
  let description = [{
    The gradient of a bias or of a norm's scale is a sum over all rows. If another kernel computes these rows, or reads them, it
    accumulates the sum as a column sum (`mtc.kernel.yield … add`), and the kernel that only reads the rows again for the sum is
    removed.

    Partial sums need scratch memory; if the scratch exceeds both 1/64 of the bytes that the kernel reads and 1 MiB, the kernels
    are not fused. Remarks of the category `mtc-fuse-column-sums` report fused sums, and the reason for each sum that is not
    fused.

    ```mlir
    %y = mtc.kernel [32, 64] (%x) … yield %v at [(d0, d1) -> (d0, d1)]
    %s = mtc.kernel [32, 64] reduce [0] (%y) … yield %r at [(d0, d1) -> (d1)]
    // becomes
    %s, %y = mtc.kernel [32, 64] (%x) … yield %v, %v at [(d0, d1) -> (d1), (d0, d1) -> (d0, d1)] add [0]
    ```
  }];
  let options = [
    Option<"maxInputs", "max-inputs", "unsigned", "16", "maximum number of operands of a fused kernel">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "maximum number of operations of a fused kernel">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_KERNELS
