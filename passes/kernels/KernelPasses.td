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
  let summary = "elementwise kernels move into the kernels that read them";
  let description = [{
    A kernel that reads through a view reads what the view is of, where the index stays affine without divisions. Then an
    elementwise producer is computed where its result is read, at the points that are read: if nothing else needs its
    result and no element is computed twice, or if it only moves elements. The reason of each refusal is in the debug log
    (`--debug-only=mtc-fuse-kernels`).
  }];
  let options = [
    Option<"maxInputs", "max-inputs", "unsigned", "16", "most operands that a fused kernel may have">,
    Option<"maxOperations", "max-operations", "unsigned", "256", "most operations that a fused body may hold">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect"];
}

#endif // MTC_PASSES_KERNELS
