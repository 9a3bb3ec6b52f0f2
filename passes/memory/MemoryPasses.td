//===- MemoryPasses.td - From values to places in the arena -------------------------------------===//

#ifndef MTC_PASSES_MEMORY
#define MTC_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def PrepareCalls : Pass<"mtc-prepare-calls", "::mlir::func::FuncOp"> {
  let summary = "library calls read operands where they lie, and write results as they are read";
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

def OutlineConstants : Pass<"mtc-outline-constants", "::mlir::ModuleOp"> {
  let summary = "constants that are data become variables";
  let description = [{
    What kernels have not taken into their bodies has to lie somewhere: each constant of a function becomes the read of a
    variable with the role `constant`. Equal constants share one.

    ```mlir
    %c = mtc.constant dense<[1.0, 2.0]> : tensor<2xf32>
    // becomes
    %c = mtc.read @mtc.constant : tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Place : Pass<"mtc-place", "::mlir::ModuleOp"> {
  let summary = "every value gets a place in the arena; functions become steps of launches and calls";
  let description = [{
    Variables and the functions' arguments have places of their own. Values that do not live at the same time share
    memory; an elementwise result takes the place of an operand that dies with it; a value that is written to a variable
    is computed there. Variables that are read as one flat tensor lie one after another. Equal kernels become one
    `mtc.kernel_function`.

    The functions of a program run one after another: their values share memory too.
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // MTC_PASSES_MEMORY
