//===- PrecisionPasses.td - What is stored in 16 bits -----------------------------------------===//

#ifndef MTC_PASSES_PRECISION
#define MTC_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def WidenElements : Pass<"mtc-widen-elements", "::mlir::ModuleOp"> {
  let summary = "promote 16-bit models to f32";
  let description = [{
    A model that was exported in f16 or bf16 becomes the one of f32 that it was made of: its parameters are f32, read from
    the file's 16 bits and exported to them, and so is what is computed of them. What has 16 bits after all is for `mtc-narrow-storage` to say.
    Inputs and results stay as they are, so that data is given as the model takes it.

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
    Where the target's precision is `bf16` or `f16`, contractions, convolutions and attention read operands of 16 bits, and sum in f32. What they give is stored in 16 bits, and
    so is what other operations make of it; range-sensitive operations (reductions, losses, exponentials) give f32, as
    does what no contraction has touched: data, embeddings, scales. What leaves a function or is written to a variable is
    f32, too: gradients are sums in f32.

    Arithmetic stays f32. A value is rounded where it passes from a kernel to another or to a library call: the pass
    writes a pair of casts `as storage` behind it, of which fusion leaves nothing where the value stays in registers.

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

    `keep-f32` names nodes whose operations compute in f32 with what they give in f32. Remarks say of each contraction
    what it reads.
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def KeepWorkingCopies : Pass<"mtc-keep-working-copies", "::mlir::ModuleOp"> {
  let summary = "keep 16-bit working copies of parameters";
  let description = [{
    A parameter that is read in 16 bits is kept so, and not rounded anew in each step. In bf16 its variable becomes the upper halves of
    its elements, and another one of role `low_half` holds the lower ones: together 4 bytes an element, which are the f32
    that the optimizer updates (Split-SGD-BF16: Kalamkar et al., 2019). In f16, whose exponent is another, a variable of
    role `copy` holds the rounded elements beside those of f32. What is frozen has 16 bits alone, unless some operation reads
    it in f32.

    The update writes what it changes, since `mtc-optimizer` finds the variables. In files parameters are f32: the runtime
    joins and splits them.

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
