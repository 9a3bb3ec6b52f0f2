//===- MemoryPasses.td - From values to slices of the arena -------------------------------------===//

#ifndef MTC_PASSES_MEMORY
#define MTC_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def OutlineConstants : Pass<"mtc-outline-constants", "::mlir::ModuleOp"> {
  let summary = "turn large constants into variables";
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

def Reorder : Pass<"mtc-reorder", "::mlir::ModuleOp"> {
  let summary = "reorder operations to reduce peak memory";
  let description = [{
    Moves operations of the functions so that less is alive where the most is: a value that is needed late is computed late, one
    that waits for its last reader has it run early. What each of them reads and computes stays the same, bit for bit.

    ```mlir
    %g = mtc.contract %d, %x ...  // larger than %d, and read at the end alone
    %e = mtc.contract %d, %w ...  // the step's peak
    ...
    // becomes
    %e = mtc.contract %d, %w ...
    ...
    %g = mtc.contract %d, %x ...
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Allocate : Pass<"mtc-allocate", "::mlir::ModuleOp"> {
  let summary = "allocate the arena and lower functions to steps";
  let description = [{
    Variables and the functions' arguments have slices of their own. Values that do not live at the same time share
    memory; an elementwise result takes the slice of an operand that dies with it; a value that is written to a variable
    is computed there. Variables that are read as one flat tensor lie one after another. Equal kernels become one
    `mtc.kernel_function`.

    The functions of a program run one after another: their values share memory too.

    A kernel that reads or writes variables in other spaces becomes launches over windows of its rows, with copies to and
    from the slots of `mtc.transfer_slots`; `mtc.move` becomes a copy. All of them run in order until `mtc-overlap-copies`
    lets them overlap.
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def OverlapCopies : Pass<"mtc-overlap-copies", "::mlir::ModuleOp"> {
  let summary = "overlap copies between memory spaces with computation";
  let description = [{
    Copies of a placed step between two spaces run on streams: 1 brings values to the device, 2 takes them away. Those that
    bring start as early as what else touches their slices allows, in their order. What touches these slices later waits.

    ```mlir
    mtc.launch @kernel_0 ...
    mtc.copy <0, tensor<16xf32>, disk> into <0, tensor<16xf32>>
    mtc.launch @kernel_1 [<0, tensor<16xf32>>] into [<0, tensor<16xf32>>]
    mtc.copy <0, tensor<16xf32>> into <0, tensor<16xf32>, disk>
    // becomes
    %in = mtc.async_copy <0, tensor<16xf32>, disk> into <0, tensor<16xf32>> stream 1
    mtc.launch @kernel_0 ...
    mtc.launch @kernel_1 [<0, tensor<16xf32>>] into [<0, tensor<16xf32>>] after %in
    %out = mtc.async_copy <0, tensor<16xf32>> into <0, tensor<16xf32>, disk> stream 2
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_MEMORY
