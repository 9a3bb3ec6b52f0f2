//===- ProgramOps.td - What a module says of its program beside its functions --------------------===//

#ifndef MTC_IR_PROGRAM_OPS
#define MTC_IR_PROGRAM_OPS

include "ir/MtcBase.td"
include "mlir/IR/RegionKindInterface.td"

def Mtc_Stage : Mtc_Enum<"Stage", "what a module is, on the way of a model", [
  I32EnumCase<"Onnx", 0, "onnx">, I32EnumCase<"Forward", 1, "forward">, I32EnumCase<"Training", 2, "training">,
  I32EnumCase<"Kernels", 3, "kernels">, I32EnumCase<"Allocated", 4, "allocated">]>;
def Mtc_StageAttr : Mtc_EnumAttr<Mtc_Stage, "stage"> { let assemblyFormat = "$value"; }

def Mtc_SharedInitializerPolicy : Mtc_Enum<"SharedInitializerPolicy",
  "which initializers that stand for several parameters become one for each; auto: those that cannot be tied",
  [I32EnumCase<"Auto", 0, "auto">, I32EnumCase<"Split", 1, "split">, I32EnumCase<"Keep", 2, "keep">]>;

def Mtc_BatchNormMode : Mtc_Enum<"BatchNormMode", "which form of BatchNormalization training steps compute",
  [I32EnumCase<"AsExported", 0, "as-exported">, I32EnumCase<"Train", 1, "train">, I32EnumCase<"Frozen", 2, "frozen">]>;

def Mtc_ScheduleAttr : Mtc_Attr<"Schedule", "schedule"> {
  let summary = "the learning rate of each step";
  let description = [{
    The schedules and what they say are those of `runtime/abi/schedule.h`. `rate` is the highest, to which it rises in `warmup`
    steps, `least` what it falls to, `decay` in how many steps. A table has points: steps, and the rates there.

    ```mlir
    #mtc.schedule<cosine, rate = 1.000000e-03 : f64, warmup = 100>
    #mtc.schedule<table, rate = 1.000000e-03 : f64, steps = [1, 100], rates = [1.000000e-03, 1.000000e-05]>
    ```

    * schedule_c1: there is such a schedule.
    * schedule_c2: the warm-up and the fall have no negative number of steps.
    * schedule_c3: a table alone has points, each with a step, which rises, and a rate.
  }];
  let parameters = (ins StringRefParameter<>:$kind, "::mlir::FloatAttr":$rate, OptionalParameter<"::mlir::FloatAttr">:$least,
                        DefaultValuedParameter<"int64_t", "0">:$warmup, DefaultValuedParameter<"int64_t", "0">:$decay,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$steps,
                        OptionalParameter<"::mlir::DenseF64ArrayAttr">:$rates);
  let assemblyFormat = "`<` custom<Name>($kind) `,` struct($rate, $least, $warmup, $decay, $steps, $rates) `>`";
  let genVerifyDecl = 1;
}

def Mtc_LossScalingAttr : Mtc_Attr<"LossScaling", "loss_scaling"> {
  let summary = "the loss is multiplied by a scale, which follows the range of the gradients";
  let description = [{
    The variable `@mtc.loss_scale` holds the scale. `window` updates in a row double it; a step with a gradient that is not finite
    halves it, though not below `least`, and updates nothing.

    * loss_scaling_c1: the window is at least one update, and the least scale is greater than 0.
  }];
  let parameters = (ins "int64_t":$window, "::mlir::FloatAttr":$least);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of all scales: they and their inverses are normal numbers of f32.
    static constexpr float smallest = 0x1p-126F, largest = 0x1p126F;
  }];
}

def Mtc_AccumulationAttr : Mtc_Attr<"Accumulation", "accumulation"> {
  let summary = "an update has the gradients of several micro-steps";
  let description = [{
    A micro-step adds to the variables of role `gradient`, and its part of the loss to `@mtc.loss_sum`; the update reads them and
    leaves zeros. All parts are of the sum over `targets`, the most that the micro-steps of an update have. Where fewer may count,
    `@mtc.target_count` says how many did, and `targets` divided by that is what the gradients and the loss are still to be
    multiplied by; otherwise there are no `targets`.

    * accumulation_c1: there are at least two micro-steps, and no negative number of targets.
  }];
  let parameters = (ins "int64_t":$micro_steps, DefaultValuedParameter<"int64_t", "0">:$targets);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mtc_IndexRangeAttr : Mtc_Attr<"IndexRange", "index_range"> {
  let summary = "the values of an input that are valid, since it is used as an index";
  let description = [{
    minimum <= value < limit, or value == ignored. `reader` names the node that uses it.

    * index_range_c1: the range is not empty.
  }];
  let parameters = (ins "int64_t":$minimum, "int64_t":$limit, "int64_t":$ignored, StringRefParameter<>:$reader);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mtc_SourceAttr : Mtc_Attr<"Source", "source"> {
  let summary = "the model's file, which holds the initial values";
  let description = [{
    `#mtc.initializer` names initializers of this file, or results of its Constant nodes. `merged`, `tie`, `untie`, `train` and `freeze` are
    what its parameters were chosen by, which an export needs to know; `lora` says which get adapters (`mtc-add-adapters`).
    `digest` is of the file.
  }];
  let parameters = (ins StringRefParameter<>:$file, StringRefParameter<>:$digest,
                        DefaultValuedParameter<"::mtc::SharedInitializerPolicy", "::mtc::SharedInitializerPolicy::Auto">:$merged,
                        OptionalParameter<"::mlir::ArrayAttr">:$train, OptionalParameter<"::mlir::ArrayAttr">:$freeze,
                        OptionalParameter<"::mlir::ArrayAttr">:$lora, OptionalParameter<"::mlir::ArrayAttr">:$tie,
                        OptionalParameter<"::mlir::ArrayAttr">:$untie);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mtc_AttentionReportAttr : Mtc_Attr<"AttentionReport", "attention_report"> {
  let summary = "how many attentions of a function are fused, and why the others are not";
  let parameters = (ins "int64_t":$fused, OptionalParameter<"::mlir::ArrayAttr">:$decomposed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ProgramOp : Mtc_Op<"program", [HasParent<"::mlir::ModuleOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "what holds of a training program as a whole";
  let description = [{
    The region holds the inputs of the steps. A step takes `batch` rows of those that have rows. Loss, optimizer and schedule are
    there once they are chosen, `accumulation` where gradients are sums over micro-steps, each of which takes so many rows,
    `loss_scaling` where the loss is scaled.

    ```mlir
    mtc.program "digits" stage training batch 32 loss "cross-entropy" optimizer "adamw"
        schedule <cosine, rate = 1.000000e-03 : f64, warmup = 100> {
      mtc.input "x" axis "batch" rows
      mtc.input "labels" rows label indices <minimum = 0, limit = 10, ignored = -100, reader = "the loss">
    }
    ```

    * program_c1: a module has one.
    * program_c2: it holds inputs only, no two of one name.
    * program_c3: a step takes at least one row.
  }];
  let arguments = (ins StrAttr:$model_name, Mtc_StageAttr:$stage, OptionalAttr<Mtc_SourceAttr>:$source,
                       DefaultValuedAttr<I64Attr, "1">:$batch, OptionalAttr<StrAttr>:$loss,
                       OptionalAttr<Mtc_AccumulationAttr>:$accumulation, OptionalAttr<StrAttr>:$optimizer,
                       OptionalAttr<Mtc_ScheduleAttr>:$schedule, OptionalAttr<Mtc_LossScalingAttr>:$loss_scaling);
  let regions = (region SizedRegion<1>:$inputs);
  let assemblyFormat = [{
    $model_name `stage` $stage (`from` $source^)? (`batch` $batch^)? (`loss` $loss^)? (`accumulation` $accumulation^)?
      (`optimizer` $optimizer^)?
      (`schedule` $schedule^)? (`loss_scaling` $loss_scaling^)? attr-dict-with-keyword $inputs
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$modelName, "::mtc::Stage":$stage)>];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The program of the module that an operation is, or lies in; null if it says nothing of one.
    static ProgramOp find(::mlir::Operation *op);
    /// The same, after adding one to a module without.
    static ProgramOp findOrAdd(::mlir::ModuleOp module);

    /// The input of a name; null if there is none.
    InputOp findInput(::llvm::StringRef name);
    InputOp findOrAddInput(::llvm::StringRef name);

    /// How many micro-steps an update has the gradients of.
    int64_t getMicroSteps() { return getAccumulationAttr() ? getAccumulationAttr().getMicroSteps() : 1; }
  }];
}

def InputOp : Mtc_Op<"input", [HasParent<"ProgramOp">]> {
  let summary = "an input of the steps, by its name";
  let description = [{
    `axis` is the model's name for its first axis, `rows`: that axis counts rows of the data; an input without is taken whole. Labels
    may be left out where `shifted_from` names the token ids that they are made of.

    * input_c1: `shifted_from` names another input.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$axis, UnitAttr:$rows, UnitAttr:$label,
                       OptionalAttr<StrAttr>:$shifted_from, OptionalAttr<Mtc_IndexRangeAttr>:$indices);
  let assemblyFormat = [{
    $name (`axis` $axis^)? (`rows` $rows^)? (`label` $label^)? (`shifted_from` $shifted_from^)?
      (`indices` $indices^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
  let hasVerifier = 1;
}

#endif // MTC_IR_PROGRAM_OPS
