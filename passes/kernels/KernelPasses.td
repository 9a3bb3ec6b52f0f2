//===- KernelPasses.td - From operations to kernels ---------------------------------------------===//

#ifndef MTC_PASSES_KERNELS
#define MTC_PASSES_KERNELS

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"mtc-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "each operation that a kernel can compute becomes one";
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
  let summary = "kernels that read each other's results, or the same values, become one";
  let description = [{
    1. A kernel that reads through a view reads what the view is of, where the index stays affine without divisions.
    2. An elementwise producer is computed where its result is read, at the points that are read: if nothing else needs
       its result and no element is computed twice; if it only moves elements; or if it is so cheap that each of its
       readers had better compute it than read it.
    3. Kernels over the same points become one with the results of both: an elementwise kernel and a reduction of its
       rows, several reductions of a row, what is computed of a row from its reductions. Softmax, a normalisation or a
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

#endif // MTC_PASSES_KERNELS
