//===- ProgramPasses.td - What the module says of its program --------------------------------===//

#ifndef MTC_PASSES_PROGRAM_PASSES
#define MTC_PASSES_PROGRAM_PASSES

include "mlir/Pass/PassBase.td"

def FindIndexRanges : Pass<"mtc-find-index-ranges", "::mlir::ModuleOp"> {
  let summary = "annotate the valid range of index inputs";
  let description = [{
    An input of `@micro_step` that a gather reads rows by gets the narrowest range of all gathers; labels have the loss's already.

    ```mlir
    mtc.input "ids" axis "batch"
    // becomes, with a gather from 50257 rows at the node "/embedding":
    mtc.input "ids" axis "batch" indices <minimum = -50257, limit = 50257, ignored = -50257, reader = "/embedding">
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def InitializeParameters : Pass<"mtc-initialize-parameters", "::mlir::ModuleOp"> {
  let summary = "initialize parameters randomly";
  let description = [{
    Its option is `init` (`InitializationOptions` in `passes/program/Initialization.h`); without it the module stays as it is.
    Variables of other roles are drawn too where the model's data of them is missing, so that a file without its weights
    makes a program.

    ```mlir
    mtc.variable parameter @w : tensor<8x4xf32> = #mtc.initializer<"w">
    mtc.variable constant @table : tensor<8xf32> = #mtc.initializer<"table">
    // becomes, with init=normal:0.02:
    mtc.variable parameter @w : tensor<8x4xf32> = #mtc.normal<2.000000e-02 : f64>
    mtc.variable constant @table : tensor<8xf32> = #mtc.initializer<"table">
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def ReachStage : Pass<"mtc-reach-stage", "::mlir::ModuleOp"> {
  let summary = "set the stage of the module";
  let description = [{
    Ends each pipeline. `mtc compile` continues from there with the module's text. A module without `mtc.program` stays as
    it is.
  }];
  let options = [
    Option<"stage", "stage", "::mtc::Stage", "::mtc::Stage::Forward", "the stage",
           [{::llvm::cl::values(
               clEnumValN(::mtc::Stage::Onnx, "onnx", "a model's graph"),
               clEnumValN(::mtc::Stage::Forward, "forward", "@forward in core operations"),
               clEnumValN(::mtc::Stage::Training, "training", "@micro_step, @update and @evaluate"),
               clEnumValN(::mtc::Stage::Kernels, "kernels", "kernels and library calls"),
               clEnumValN(::mtc::Stage::Allocated, "allocated", "steps over one arena"))}]>,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_PROGRAM_PASSES
