//===- ProgramOps.td - Module-level description of a training program ----------------------------===//

#ifndef MTC_IR_PROGRAM_OPS
#define MTC_IR_PROGRAM_OPS

include "ir/MtcBase.td"
include "mlir/IR/RegionKindInterface.td"

def Mtc_Stage : Mtc_Enum<"Stage", "compilation stage of a module", [
  I32EnumCase<"Imported", 0, "onnx">, I32EnumCase<"Forward", 1, "forward">, I32EnumCase<"Training", 2, "training">,
  I32EnumCase<"Kernels", 3, "kernels">, I32EnumCase<"Allocated", 4, "allocated">]>;
def Mtc_StageAttr : Mtc_EnumAttr<Mtc_Stage, "stage"> { let assemblyFormat = "$value"; }

def Mtc_SharedInitializerPolicy : Mtc_Enum<"SharedInitializerPolicy",
  "policy for initializers that several parameters share",
  [I32EnumCase<"Auto", 0, "auto">, I32EnumCase<"Split", 1, "split">, I32EnumCase<"Keep", 2, "keep">]>;

def Mtc_BatchNormMode : Mtc_Enum<"BatchNormMode", "BatchNormalization in training steps",
  [I32EnumCase<"AsExported", 0, "as-exported">, I32EnumCase<"Train", 1, "train">, I32EnumCase<"Frozen", 2, "frozen">,
   I32EnumCase<"Sync", 3, "sync">]>;

def Mtc_RecomputeMode : Mtc_Enum<"RecomputeMode", "use of recomputation",
  [I32EnumCase<"None", 0, "none">, I32EnumCase<"Sqrt", 1, "sqrt">, I32EnumCase<"Auto", 2, "auto">,
   I32EnumCase<"All", 3, "all">]>;
def Mtc_TileMode : Mtc_Enum<"TileMode", "use of tiles",
  [I32EnumCase<"None", 0, "none">, I32EnumCase<"Auto", 1, "auto">, I32EnumCase<"All", 2, "all">]>;

def Mtc_ScheduleAttr : Mtc_Attr<"Schedule", "schedule"> {
  let summary = "learning rate schedule";
  let description = [{
    The kinds and their parameters are defined in `runtime/abi/schedule.h`. `rate` is the maximum, which is reached after `warmup`
    steps; `min_rate` is the rate that it decays to, and `decay` the number of steps of the decay. A table has points: step numbers
    and their rates.

    ```mlir
    #mtc.schedule<cosine, rate = 1.000000e-03 : f64, warmup = 100>
    #mtc.schedule<table, rate = 1.000000e-03 : f64, steps = [1, 100], rates = [1.000000e-03, 1.000000e-05]>
    ```

    * schedule_c1: the kind is known.
    * schedule_c2: warmup and decay are not negative.
    * schedule_c3: only a table has points; steps ascend, and each has a rate.
  }];
  let parameters = (ins StringRefParameter<>:$kind, "::mlir::FloatAttr":$rate, OptionalParameter<"::mlir::FloatAttr">:$min_rate,
                        DefaultValuedParameter<"int64_t", "0">:$warmup, DefaultValuedParameter<"int64_t", "0">:$decay,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$steps,
                        OptionalParameter<"::mlir::DenseF64ArrayAttr">:$rates);
  let assemblyFormat = "`<` custom<Name>($kind) `,` struct($rate, $min_rate, $warmup, $decay, $steps, $rates) `>`";
  let genVerifyDecl = 1;
}

def Mtc_LossScalingAttr : Mtc_Attr<"LossScaling", "loss_scaling"> {
  let summary = "dynamic loss scaling";
  let description = [{
    The variable `@mtc.loss_scale` contains the scale. After `window` consecutive updates the scale is doubled. A step with a
    non-finite gradient halves the scale, with `min_scale` as the minimum, and skips the update.

    * loss_scaling_c1: the window is at least one update, and the minimum scale is greater than 0.
  }];
  let parameters = (ins "int64_t":$window, "::mlir::FloatAttr":$min_scale);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The range of scales: scales and their reciprocals are normal numbers of f32.
    static constexpr float smallest = 0x1p-126F, largest = 0x1p126F;
  }];
}

def Mtc_AccumulationAttr : Mtc_Attr<"Accumulation", "accumulation"> {
  let summary = "gradient accumulation over several micro-steps";
  let description = [{
    A micro-step accumulates into the variables of role `gradient`, and adds its part of the loss to `@mtc.loss_sum`; the update
    reads these variables and resets them to zero. Each part is divided by `targets`, the maximum number of targets of an update.
    If some targets may not count, `@mtc.target_count` is the number that did, and the update multiplies gradients and loss by
    `targets` / `@mtc.target_count`. Otherwise `targets` is 0.

    * accumulation_c1: there are at least two micro-steps, and the number of targets is not negative.
  }];
  let parameters = (ins "int64_t":$micro_steps, DefaultValuedParameter<"int64_t", "0">:$targets);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mtc_ShapeAttr : Mtc_Attr<"Shape", "shape"> {
  let summary = "a shape of a program: the sizes of symbolic dimensions";
  let description = [{
    ```mlir
    #mtc.shape<batch = 8, dims = {sequence = 64 : i64}>
    ```

    * shape_c1: the batch is at least 1, and so are the sizes, which are i64.
  }];
  let parameters = (ins "int64_t":$batch, "::mlir::DictionaryAttr":$dims);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mtc_Shard : Mtc_Enum<"Shard", "variables that are divided among the ranks",
  [I32EnumCase<"None", 0, "none">, I32EnumCase<"Optimizer", 1, "optimizer">, I32EnumCase<"Gradients", 2, "gradients">,
   I32EnumCase<"Parameters", 3, "parameters">]>;

def Mtc_Reduce : Mtc_Enum<"Reduce", "when the gradients of the ranks are added",
  [I32EnumCase<"Every", 0, "every">, I32EnumCase<"Last", 1, "last">]>;

def Mtc_RanksAttr : Mtc_Attr<"Ranks", "ranks"> {
  let summary = "the processes that train together";
  let description = [{
    `count` processes run the program. Each of the `pipeline` stages (0: one, without the sums of pipelines) is run by equally many
    consecutive ranks. Rank r = ((stage * D + data) * `context_ranks` + c) * `tensor` + t has number t in its tensor group, whose ranks share the work of each layer, number c in its context group, whose ranks have different parts of each sequence, and number
    `data` in its data group, whose ranks have samples of their own. Of the micro-steps of an update, numbered from 0, number i of D
    ranks of a data group runs those whose number is i modulo D. `network` is the class of the connection between ranks, for the cost
    model. A sum over an axis that a tensor group divides has `chunks` addends (0: one for each rank), so that tensor groups of any
    size that divides this number have the same sums; `context_chunks` is the same for a sum over the elements of sequences.

    `shard` is what is divided among the ranks of a data group: nothing, the state of the optimizer, also gradients, or also
    parameters. `reduce` is when their gradients are added: in each micro-step, in the order of one process, or in the update, after
    each rank has added those of its own micro-steps.

    * ranks_c1: there is at least one rank.
    * ranks_c2: gradients that are added in the update are not divided.
    * ranks_c3: the number of ranks is a multiple of `tensor * context_ranks` and the number of stages, and the factors are at least 1.
    * ranks_c4: `chunks` is a multiple of the number of ranks of a tensor group, and `context_chunks` of a context group.
  }];
  let extraClassDeclaration = [{
    /// Returns the ranks that share each layer.
    RankGroup getTensorGroup() const { return {getTensor(), 1}; }
    /// Returns the number of addends of a sum over an axis that may be divided among a tensor group.
    int64_t getTensorChunks() const { return getChunks() ? getChunks() : getTensor(); }
    /// Returns the ranks that have different parts of the same sequences.
    RankGroup getContextGroup() const { return {getContextRanks(), getTensor()}; }
    /// Returns the number of addends of a sum over the elements of sequences.
    int64_t getContextParts() const { return getContextChunks() ? getContextChunks() : getContextRanks(); }
    /// Returns the number of consecutive ranks that have the same samples.
    int64_t getSharingRanks() const { return getTensor() * getContextRanks(); }
    /// Returns the ranks that compute the same from different samples.
    RankGroup getDataGroup() const { return {getRanksOfStage() / getSharingRanks(), getSharingRanks()}; }
    /// Returns the number of pipeline stages.
    int64_t getStages() const { return getPipeline() ? getPipeline() : 1; }
    /// Returns the number of consecutive ranks that run a pipeline stage.
    int64_t getRanksOfStage() const { return getCount() / getStages(); }
    /// Returns the ranks with the same number in all stages.
    RankGroup getStageGroup() const { return {getStages(), getRanksOfStage()}; }
  }];
  let parameters = (ins "int64_t":$count, DefaultValuedParameter<"int64_t", "1">:$tensor,
                        DefaultValuedParameter<"int64_t", "0">:$chunks,
                        DefaultValuedParameter<"int64_t", "1">:$context_ranks,
                        DefaultValuedParameter<"int64_t", "0">:$context_chunks,
                        DefaultValuedParameter<"::mtc::Shard", "::mtc::Shard::None">:$shard,
                        StringRefParameter<"", [{"shm"}]>:$network,
                        DefaultValuedParameter<"::mtc::Reduce", "::mtc::Reduce::Every">:$reduce,
                        DefaultValuedParameter<"int64_t", "0">:$pipeline);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mtc_IndexRangeAttr : Mtc_Attr<"IndexRange", "index_range"> {
  let summary = "the valid values of an input that is used as an index";
  let description = [{
    A value is valid if minimum <= value < limit, or value == ignored. `user` names the node that uses the index.

    * index_range_c1: the range is not empty.
  }];
  let parameters = (ins "int64_t":$minimum, "int64_t":$limit, "int64_t":$ignored, StringRefParameter<>:$user);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mtc_SourceAttr : Mtc_Attr<"Source", "source"> {
  let summary = "the model file, which contains the initial values";
  let description = [{
    `#mtc.initializer` names initializers of this file, or results of its Constant nodes. `merged`, `tie`, `untie`, `train` and
    `freeze` are the options that selected the parameters, which an export needs. `lora` selects the matrices that get adapters
    (`mtc-add-adapters`). `digest` is the digest of the file.
  }];
  let parameters = (ins StringRefParameter<>:$file, StringRefParameter<>:$digest,
                        DefaultValuedParameter<"::mtc::SharedInitializerPolicy", "::mtc::SharedInitializerPolicy::Auto">:$merged,
                        OptionalParameter<"::mlir::ArrayAttr">:$train, OptionalParameter<"::mlir::ArrayAttr">:$freeze,
                        OptionalParameter<"::mlir::ArrayAttr">:$lora, OptionalParameter<"::mlir::ArrayAttr">:$tie,
                        OptionalParameter<"::mlir::ArrayAttr">:$untie);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mtc_AttentionReportAttr : Mtc_Attr<"AttentionReport", "attention_report"> {
  let summary = "fused attentions of a function, and why others are decomposed";
  let parameters = (ins "int64_t":$fused, OptionalParameter<"::mlir::ArrayAttr">:$decomposed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ProgramOp : Mtc_Op<"program", [HasParent<"::mlir::ModuleOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "properties of a training program as a whole";
  let description = [{
    The region contains the inputs of the steps. A step reads `batch` samples of each input with a batch axis. Loss, optimizer and
    schedule are present once they are chosen, `accumulation` if gradients are accumulated over micro-steps of `batch` samples
    each, and `loss_scaling` if the loss is scaled. With `ranks`, several processes share the micro-steps, or each layer.

    ```mlir
    mtc.program "digits" stage training batch 32 loss "cross-entropy" optimizer "adamw"
        schedule <cosine, rate = 1.000000e-03 : f64, warmup = 100> {
      mtc.input "x" axis "batch" rows
      mtc.input "labels" rows label indices <minimum = 0, limit = 10, ignored = -100, user = "the loss">
    }
    ```

    A program with several `shapes` has each function but @update once for each of them (`@micro_step`, `@micro_step.1`): the sizes of
    the model's symbolic dimensions differ, and so do the samples that a step reads. All shapes share the variables and the arena.
    `batch` is that of the first shape.

    The module of a pipeline stage has the stage's number, from 0, in `pipeline_stage`.

    * program_c1: a module has one program.
    * program_c2: the region contains only inputs, with distinct names.
    * program_c3: the batch size is at least 1.
    * program_c4: the number of micro-steps is a multiple of the number of ranks of a data group.
    * program_c5: there are no shapes, or at least two, and the first has the program's batch.
  }];
  let arguments = (ins StrAttr:$model_name, Mtc_StageAttr:$stage, OptionalAttr<Mtc_SourceAttr>:$source,
                       DefaultValuedAttr<I64Attr, "1">:$batch, OptionalAttr<StrAttr>:$loss,
                       OptionalAttr<Mtc_RanksAttr>:$ranks, OptionalAttr<Mtc_AccumulationAttr>:$accumulation,
                       OptionalAttr<StrAttr>:$optimizer,
                       OptionalAttr<Mtc_ScheduleAttr>:$schedule, OptionalAttr<Mtc_LossScalingAttr>:$loss_scaling,
                       OptionalAttr<TypedArrayAttrBase<Mtc_ShapeAttr, "shapes">>:$shapes,
                       OptionalAttr<I64Attr>:$pipeline_stage);
  let regions = (region SizedRegion<1>:$inputs);
  let assemblyFormat = [{
    $model_name `stage` $stage (`from` $source^)? (`batch` $batch^)? (`loss` $loss^)? (`ranks` $ranks^)?
      (`accumulation` $accumulation^)?
      (`optimizer` $optimizer^)?
      (`schedule` $schedule^)? (`loss_scaling` $loss_scaling^)? (`shapes` $shapes^)? (`pipeline_stage` $pipeline_stage^)? attr-dict-with-keyword $inputs
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$modelName, "::mtc::Stage":$stage)>];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the program of the module that is or contains `op`; null if there is none.
    static ProgramOp find(::mlir::Operation *op);
    /// Returns the program of the module; creates it if there is none.
    static ProgramOp findOrAdd(::mlir::ModuleOp module);

    /// Returns the input with this name; null if there is none.
    InputOp findInput(::llvm::StringRef name);
    InputOp findOrAddInput(::llvm::StringRef name);

    /// Returns the number of micro-steps per update, of all ranks together.
    int64_t getMicroSteps() { return getAccumulationAttr() ? getAccumulationAttr().getMicroSteps() : 1; }
    /// Returns the number of all ranks.
    int64_t getRankCount() { return getRanksAttr() ? getRanksAttr().getCount() : 1; }
    /// Returns the ranks that share each layer.
    RankGroup getTensorGroup() { return getRanksAttr() ? getRanksAttr().getTensorGroup() : RankGroup(); }
    /// Returns the ranks that have different parts of the same sequences.
    RankGroup getContextGroup() { return getRanksAttr() ? getRanksAttr().getContextGroup() : RankGroup(); }
    /// Returns the number of consecutive ranks that have the same samples.
    int64_t getSharingRanks() { return getRanksAttr() ? getRanksAttr().getSharingRanks() : 1; }
    /// Returns the ranks that compute the same from different samples.
    RankGroup getDataGroup() { return getRanksAttr() ? getRanksAttr().getDataGroup() : RankGroup(); }
    /// Returns the ranks with the same number in all pipeline stages.
    RankGroup getStageGroup() { return getRanksAttr() ? getRanksAttr().getStageGroup() : RankGroup(); }
    /// Returns what is divided among the ranks of a data group.
    Shard getShard() { return getRanksAttr() ? getRanksAttr().getShard() : Shard::None; }
    /// Returns the number of micro-steps per update that each rank runs.
    int64_t getMicroStepsOfRank() { return getMicroSteps() / getDataGroup().count; }
    /// Returns the number of shapes for which the module has functions.
    unsigned getShapeCount() { return getShapesAttr() ? getShapesAttr().size() : 1; }
    /// Returns whether each rank adds the gradients of its own micro-steps, and the update those of the ranks.
    bool reducesInUpdate() {
      return getRanksAttr() && getRanksAttr().getReduce() == Reduce::Last && getMicroStepsOfRank() > 1;
    }
  }];
}

def InputOp : Mtc_Op<"input", [HasParent<"ProgramOp">]> {
  let summary = "a named input of the steps";
  let description = [{
    `axis` is the model's name of the first axis. `rows` marks the first axis as the batch axis; an input without it is read as a
    whole. Labels may be omitted if `shifted_from` names the token ids that they are derived from.

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
