//===- PrecisionPasses.td - Mixed precision and 16-bit storage --------------------------------===//

#ifndef MTC_PASSES_PRECISION
#define MTC_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def WidenElements : Pass<"mtc-widen-elements", "::mlir::ModuleOp"> {
  let summary = "promote 16-bit models to f32";
  let description = [{
    Promotes a model that was exported in f16 or bf16 to f32. Parameters become f32; they are loaded from the file's 16-bit data
    and exported to 16 bits again. Values computed from them become f32 as well. `mtc-narrow-storage` decides later which values
    get 16-bit storage. The types of inputs and results do not change, so the data format does not change.

    ```mlir
    mtc.variable parameter @w : tensor<8x16xf16> = #mtc.initializer<"w">
    %y = mtc.tanh %x : tensor<8x16xf16>
    // becomes
    mtc.variable parameter @w : tensor<8x16xf32> = #mtc.initializer<"w">
    %y = mtc.tanh %x : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def NarrowStorage : Pass<"mtc-narrow-storage", "::mlir::ModuleOp"> {
  let summary = "apply mixed precision by the precision class of each operation";
  let description = [{
    If the target's precision is `bf16` or `f16`, contractions, convolutions and attention read 16-bit operands and accumulate in
    f32. Their results have 16-bit storage, and so do the results of other operations on them. Range-sensitive operations
    (reductions, losses, exponentials) return f32. Values that do not depend on a contraction stay f32: data, embeddings, scales.
    Function results and values written to variables are also f32, so gradients are accumulated in f32.

    Arithmetic stays f32. A value is rounded where it is passed from one kernel to another or to a library call: the pass inserts
    a pair of casts `as storage` after the value. Fusion removes the pair if the value stays in registers.

    ```mlir
    %h = mtc.contract %x, %w … : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    %y = mtc.tanh %h : tensor<4x16xf32>
    // becomes
    %x16 = mtc.cast %x as storage : tensor<4x8xf32> -> tensor<4x8xbf16>
    %w16 = mtc.cast %w as storage : tensor<8x16xf32> -> tensor<8x16xbf16>
    %h16 = mtc.contract %x16, %w16 … : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xbf16>
    %h = mtc.cast %h16 as storage : tensor<4x16xbf16> -> tensor<4x16xf32>
    %y = mtc.tanh %h : tensor<4x16xf32>
    ```

    `keep-f32` selects nodes whose operations compute and return f32. Remarks report the operand type of each contraction.
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def KeepWorkingCopies : Pass<"mtc-keep-working-copies", "::mlir::ModuleOp"> {
  let summary = "keep 16-bit working copies of parameters";
  let description = [{
    Stores a parameter that is read in 16 bits as such, instead of rounding it in every step. For bf16, the variable stores the
    upper halves of the elements, and another variable of role `low_half` stores the lower halves. Together they have 4 bytes per
    element, the f32 value that the optimizer updates (Split-SGD-BF16: Kalamkar et al., 2019). For f16, whose exponent has a
    different width, a variable of role `copy` stores the rounded elements in addition to the f32 parameter. Frozen parameters are
    stored in 16 bits only, unless an operation reads them in f32.

    `mtc-optimizer` finds these variables and generates updates that write all of them. Parameters are f32 in files; the runtime
    joins and splits the halves.

    ```mlir
    mtc.variable parameter @w : tensor<8x16xf32> = #mtc.initializer<"w">
    %w = mtc.read @w : tensor<8x16xf32>
    %s = mtc.cast %w as storage : tensor<8x16xf32> -> tensor<8x16xbf16>
    // becomes
    mtc.variable parameter @w : tensor<8x16xbf16> = #mtc.initializer<"w">
    mtc.variable low_half @w.low : tensor<8x16xi16> = #mtc.as_parameter of @w
    %s = mtc.read @w : tensor<8x16xbf16>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_PRECISION
