//===- MemoryPasses.td - From values to places in the arena -------------------------------------===//

#ifndef MTC_PASSES_MEMORY
#define MTC_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def PrepareContractions : Pass<"mtc-prepare-contractions", "::mlir::func::FuncOp"> {
  let summary = "contractions become ones that a library takes without copies of its own";
  let description = [{
    A library multiplies matrices whose rows and columns each have one stride. Where an operand's free or contracted
    axes do not lie in memory such that they can be seen as one, the operand is transposed first.
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
