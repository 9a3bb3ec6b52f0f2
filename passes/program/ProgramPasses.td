//===- ProgramPasses.td - Program metadata and initialization ---------------------------------===//

#ifndef MTC_PASSES_PROGRAM_PASSES
#define MTC_PASSES_PROGRAM_PASSES

include "mlir/Pass/PassBase.td"

def FindIndexRanges : Pass<"mtc-find-index-ranges", "::mlir::ModuleOp"> {
  let summary = "annotate the valid range of index inputs";
  let description = [{
    For each input of `@micro_step` that is used as the index of a gather, sets the intersection of the valid ranges of all its
    gathers. Labels already have the range of the loss.

    ```mlir
    mtc.input "ids" axis "batch"
    // becomes, with a gather from 50257 rows at the node "/embedding":
    mtc.input "ids" axis "batch" indices <minimum = -50257, limit = 50257, ignored = -50257, user = "/embedding">
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def EraseUnreadInputs : Pass<"mtc-erase-unread-inputs", "::mlir::ModuleOp"> {
  let summary = "erase inputs from training and evaluation that only outputs read";
  let description = [{
    Erases an argument of `@micro_step` and `@evaluate` that neither uses if `@outputs` uses the graph input of this name. Programs
    then ask for data of the input only with `--outputs`.

    ```mlir
    func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}, %z: tensor<4xf32> {mtc.name = "z"})
    // becomes, if only @outputs uses z:
    func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"})
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

def InitializeParameters : Pass<"mtc-initialize-parameters", "::mlir::ModuleOp"> {
  let summary = "initialize parameters randomly";
  let description = [{
    The option is `init` (`InitializationOptions` in `passes/program/Initialization.h`), a list of forms with or without a pattern of
    names. Without it, the pass does nothing. The pattern with the most literal characters decides.

    A pattern's form is the initial value of every parameter that matches. A form without a pattern initializes the parameters of
    layers, and running statistics, by the operations that use them (`passes/program/LayerParameters.h`):

    | use | pytorch | other forms |
    |---|---|---|
    | operand of a contraction or convolution | uniform in ±1 / sqrt(fan in) | the form |
    | added to its result | uniform in ±1 / sqrt(fan in) of the weight | 0 |
    | rows that indices select | normal, standard deviation 1; a padding row is 0 | normal=S: the form; others: as pytorch |
    | recurrent layer of H units | uniform in ±1 / sqrt(H) | matrices: the form; biases: 0 |
    | scale and running variance of a normalization | 1 | 1 |
    | bias and running mean of a normalization | 0 | 0 |

    A parameter with other uses is an error. So is one whose name in the user's module is not that of a layer's parameter, such as
    `weight` and `bias`, except that `pytorch` knows the parameters of `nn.MultiheadAttention`. With `normal`, tables are also drawn if
    their data is missing from the model.

    ```mlir
    mtc.variable parameter @w : tensor<8x4xf32> = #mtc.initializer<"w">
    mtc.variable constant @table : tensor<8xf32> = #mtc.initializer<"table">
    // becomes, with init=*:normal=0.02:
    mtc.variable parameter @w : tensor<8x4xf32> = #mtc.normal<2.000000e-02 : f64>
    mtc.variable constant @table : tensor<8xf32> = #mtc.initializer<"table">
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def ReachStage : Pass<"mtc-reach-stage", "::mlir::ModuleOp"> {
  let summary = "set the stage of the module";
  let description = [{
    Last pass of each pipeline. `mtc compile` can resume from the module's text at this stage. Does nothing in a module without
    `mtc.program`.
  }];
  let options = [
    Option<"stage", "stage", "::mtc::Stage", "::mtc::Stage::Forward", "the stage",
           [{::llvm::cl::values(
               clEnumValN(::mtc::Stage::Imported, "onnx", "a model's graph"),
               clEnumValN(::mtc::Stage::Forward, "forward", "@forward in core operations"),
               clEnumValN(::mtc::Stage::Training, "training", "@micro_step, @update and @evaluate"),
               clEnumValN(::mtc::Stage::Kernels, "kernels", "kernels and library calls"),
               clEnumValN(::mtc::Stage::Allocated, "allocated", "steps over one arena"))}]>,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_PROGRAM_PASSES
