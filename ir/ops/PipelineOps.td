//===- PipelineOps.td - Pipeline stages of a program ------------------------------------------------===//
//
// The module of a pipeline stage has the part of the functions that the ranks of the stage run. Values that other stages compute
// arrive in variables of role `slot`, and so do those that a micro-step keeps between its forward and its backward part.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_PIPELINE_OPS
#define MTC_IR_PIPELINE_OPS

include "ir/MtcBase.td"

def MessageOp : Mtc_Op<"message", [HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "values that two pipeline stages exchange in each micro-step";
  let description = [{
    The messages of a stage are numbered in their order, from 0. The variables are slots, of which a message moves the copy of its
    micro-step. `stage` is the other stage; both stages have a message with the same channel and variables of the same types. Gradients
    are messages of the `backward` part of a micro-step.

    ```mlir
    mtc.message sent channel 0 [@pipeline.0.sent] stage 1
    mtc.message backward channel 1 [@pipeline.1.received] stage 1
    ```

    * message_c1: there is at least one variable, and all are slots with the same number of copies.
    * message_c2: neither the stage nor the channel is negative.
  }];
  let arguments = (ins UnitAttr:$sent, UnitAttr:$backward, I64Attr:$channel, TypedArrayAttrBase<FlatSymbolRefAttr, "symbols of variables">:$variables,
                       I64Attr:$stage);
  let assemblyFormat = "(`sent` $sent^)? (`backward` $backward^)? `channel` $channel $variables `stage` $stage attr-dict";
}

def Mtc_TaskKind : Mtc_Enum<"TaskKind", "kind of a task of a stage; values match the ABI",
  [I32EnumCase<"Load", 0, "load">, I32EnumCase<"Start", 1, "start">, I32EnumCase<"Wait", 2, "wait">, I32EnumCase<"Run", 3, "run">]>;

def Mtc_TaskAttr : Mtc_Attr<"Task", "task"> {
  let summary = "a task of a stage";
  let description = [{
    A task loads the batch of a micro-step, starts or waits for the message of this number, or runs a function. `micro` is the number
    of the micro-step among those that a rank runs for an update.

    ```mlir
    #mtc.task<load, micro = 3>
    #mtc.task<start, message = 1, micro = 3>
    #mtc.task<run, function = @micro_step, micro = 3>
    ```

    * task_c1: no number is negative, and a run has a function.
  }];
  let parameters = (ins "::mtc::TaskKind":$kind, DefaultValuedParameter<"int64_t", "0">:$message,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$function, DefaultValuedParameter<"int64_t", "0">:$micro);
  let assemblyFormat = "`<` $kind `,` struct($message, $function, $micro) `>`";
  let genVerifyDecl = 1;
}

def TasksOp : Mtc_Op<"tasks", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "the tasks of a stage for an update or a batch";
  let description = [{
    `of` is the function of a program without stages that the tasks replace: `micro_step` for all micro-steps of an update, or
    `evaluate` or `outputs` for a batch. The tasks run in order; messages that were started proceed meanwhile.

    ```mlir
    mtc.tasks "micro_step" [#mtc.task<load>, #mtc.task<run, function = @micro_step>, #mtc.task<start, message = 0>]
    ```

    * tasks_c1: each message exists.
  }];
  let arguments = (ins StrAttr:$of, TypedArrayAttrBase<Mtc_TaskAttr, "tasks">:$tasks);
  let assemblyFormat = "$of $tasks attr-dict";
  let hasVerifier = 1;
}

#endif // MTC_IR_PIPELINE_OPS
