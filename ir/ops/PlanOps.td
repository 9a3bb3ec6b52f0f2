//===- PlanOps.td - The allocated program: operations on arena slices ------------------------------===//
//
// The last form before code generation. The order of operations is fixed, every value is a slice of an arena, and each operation
// specifies the slices that it reads and writes.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_PLAN_OPS
#define MTC_IR_PLAN_OPS

include "ir/calls/Calls.td"
include "ir/ops/CollectiveOps.td"

def Mtc_KernelPlanAttr : Attr<CPred<"::llvm::isa<::mtc::KernelPlanAttrInterface>($_self)">, "plan of a kernel"> {
  let storageType = "::mtc::KernelPlanAttrInterface";
  let returnType = "::mtc::KernelPlanAttrInterface";
  let convertFromStorage = "$_self";
}

def ArenaOp : Mtc_Op<"arena"> {
  let summary = "the memory of a program in one memory space";
  let description = [{
    Operands and results of kernels and library calls, variables in device memory, and the inputs and outputs that the runtime
    accesses are in the device arena. Arenas of other memory spaces contain the values that copies move there and back, and only
    have a size.

    `live` is the maximum number of bytes that are live at the same time, a lower bound of the size of any allocation. `peak_at`
    is the operation with this maximum, whose scratch memory is `workspace_bytes`. The inputs have `data_bytes`. If `staging` is
    not 0, it is the distance in bytes from each input to the slice into which the next batch is read concurrently. `floor` is a
    lower bound of the size for all plans of the same operations. Functions that write transient variables, or that are
    `mtc.separate_arena`, have a separate arena of `separate` bytes, if that is larger; `outputs` is the part of it that `@outputs`
    needs, if that is larger than the size. In a program that checks what its operations write, at
    least `redzone` unused bytes follow each value.

    ```mlir
    mtc.arena size 1331200 live 1290240
    mtc.arena in host size 4096 live 4096
    ```

    * arena_c1: there is one arena for each memory space.
    * arena_c2: variables are within the arena of their memory space.
  }];
  let arguments = (ins I64Attr:$size, I64Attr:$live, DefaultValuedAttr<I64Attr, "0">:$data_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes, DefaultValuedAttr<I64Attr, "0">:$staging,
                       DefaultValuedAttr<I64Attr, "0">:$separate, DefaultValuedAttr<I64Attr, "0">:$outputs, OptionalAttr<Mtc_LocationAttr>:$peak_at,
                       DefaultValuedAttr<Mtc_MemorySpaceAttr, "::mtc::MemorySpace::Device">:$space,
                       DefaultValuedAttr<I64Attr, "0">:$floor, DefaultValuedAttr<I64Attr, "0">:$redzone);
  let assemblyFormat = "(`in` $space^)? `size` $size `live` $live attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the arena of a memory space; null if the module has none.
    static ArenaOp find(::mlir::ModuleOp placed, ::mtc::MemorySpace space = ::mtc::MemorySpace::Device);
  }];
}

def TransferSlotsOp : Mtc_Op<"transfer_slots", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "buffers for windows of operands in other memory spaces";
  let description = [{
    A kernel with operands in other memory spaces than its own runs in windows: ranges of its rows. The window's part of these
    operands is copied into a slot, read and written there by the kernel, and copied back if it was written. A window uses the
    least recently used slot, so that copies overlap with computation. Where temporaries leave memory of the arena free, windows
    use it as further slots. Kernels on the host have slots in pinned host memory.

    ```mlir
    mtc.transfer_slots 4 size 8388608
    mtc.transfer_slots in pinned_host 4 size 8388608
    ```

    * transfer_slots_c1: there is at least one slot; sizes and slot offsets are multiples of 4096.
  }];
  let arguments = (ins I64Attr:$count, I64Attr:$size,
                       DefaultValuedAttr<Mtc_MemorySpaceAttr, "::mtc::MemorySpace::Device">:$space);
  let assemblyFormat = "(`in` $space^)? $count `size` $size attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Alignment of slots, of the values in them, and of slices in other memory spaces: whole pages are copied directly.
    static constexpr int64_t alignment = 4096;
    int64_t getBytes() { return getCount() * getSize(); }
    /// Returns the slots in a memory space; null if the module has none.
    static TransferSlotsOp find(::mlir::ModuleOp module, ::mtc::MemorySpace space = ::mtc::MemorySpace::Device);
  }];
}

def KernelFunctionOp : Mtc_Op<"kernel_function", [Symbol, IsolatedFromAbove,
                                                  SingleBlockImplicitTerminator<"KernelYieldOp">]> {
  let summary = "a kernel without its operands, which launches share";
  let description = [{
    The arguments of the body are the inputs; results have the types in `outputs`. See `mtc.kernel`. `plan` specifies how the
    target runs the kernel; code generation creates the plan if it is absent.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$space, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reduced,
                       OptionalAttr<I64Attr>:$iterations, UnitAttr:$on_host, TypeArrayAttr:$outputs,
                       OptionalAttr<Mtc_KernelPlanAttr>:$plan);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $space (`iterations` $iterations^)? (`reduce` $reduced^)? (`on_host` $on_host^)? `->` $outputs (`plan` $plan^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::FusibleShape getShape();
    ::mtc::Cost getCost();
    /// Returns the memory space of the operands and results of launches.
    ::mtc::MemorySpace getSpaceOfOperands() { return getOnHost() ? ::mtc::MemorySpace::PinnedHost : ::mtc::MemorySpace::Device; }
    ::llvm::SmallVector<::mlir::RankedTensorType> getInputTypes();
    ::llvm::SmallVector<::mlir::RankedTensorType> getOutputTypes();
  }];
}

def StepOp : Mtc_Op<"step", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "a function of the program: an ordered list of launches and calls";
  let description = [{
    `inputs` and `outputs` are the slices that the runtime writes before the step and reads after it; `input_names` and
    `output_names` are their names.

    Operations run in order, except those on streams, such as `mtc.async_copy`. Until an operation has waited for the token of such
    an operation, what it reads must not be written, and what it writes must be neither read nor written. The end of the step waits
    for all of them.

    Operations may specify the end of the live range of each result (`until`): the number, from 0, of the last operation that
    reads it. The number of operations denotes the end of the step, and -1 a result that is part of a value that is already
    live, such as a variable. Variables and inputs are live throughout. A result may share memory with a value whose last user is
    the operation itself.

    ```mlir
    mtc.launch @k [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<8xf32>>] until [1]
    mtc.launch @k [#mtc.at<64, tensor<8xf32>>] into [#mtc.at<64, tensor<8xf32>>] until [2]
    ```

    * step_c1: operations wait for copies on streams before they access the slices of these copies.
    * step_c2: slices, strided operands of library calls and scratch memory are within the arena of their memory space, if the
      module has arenas.
    * step_c3: inputs and outputs are in device memory.
    * step_c4: values that are live at the same time do not overlap; either all or no operations specify live ranges.
    * step_c5: values that are read, and outputs of the step, are live at that time. A strided operand or result of a library call
      is within one value.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Mtc_AtArrayAttr:$inputs, StrArrayAttr:$input_names,
                       Mtc_AtArrayAttr:$outputs, StrArrayAttr:$output_names);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `reads` $input_names $inputs `gives` $output_names $outputs attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def LaunchOp : Mtc_Op<"launch", [ParentOneOf<["StepOp", "RepeatOp"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launch a kernel";
  let description = [{
    ```mlir
    mtc.launch @k0 [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<8xf32>>]
    mtc.launch @k1 [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<f32>>] scratch 256 at 128
    ```

    The target uses the scratch memory to pass values between the stages of a kernel.

    * launch_c1: the symbol names a kernel function whose inputs and outputs have the slices' types.
    * launch_c2: the slices are in device memory; those of a kernel on the host are in pinned host memory, and it has no scratch.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let assemblyFormat = [{
    $kernel $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? (`after` $dependencies^)?
    (`until` $last_uses^)? attr-dict
  }];
}

def AsyncLaunchOp : Mtc_Op<"async_launch", [HasParent<"StepOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launch a kernel on the host asynchronously on a stream";
  let description = [{
    An `mtc.launch` that runs like `mtc.async_copy`: it starts after all preceding operations of the step, and an operation that
    accesses one of the slices waits for the token. Launches on one stream run in order.

    ```mlir
    %in = mtc.async_copy #mtc.at<0, tensor<16xf32>> into #mtc.at<0, tensor<16xf32>, pinned_host> stream 2
    %update = mtc.async_launch @kernel_0 [#mtc.at<0, tensor<16xf32>, pinned_host>] into [#mtc.at<64, tensor<16xf32>, pinned_host>]
      stream 4 after %in
    ```

    * launch_c1 and launch_c2: see `mtc.launch`.
    * async_launch_c1: the kernel runs on the host; stream numbers start at 1.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs, I64Attr:$stream,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let results = (outs Mtc_Token:$token);
  let assemblyFormat = [{
    $kernel $inputs `into` $outputs `stream` $stream (`after` $dependencies^)? (`until` $last_uses^)? attr-dict
  }];
}

def CallOp : Mtc_Op<"call", [ParentOneOf<["StepOp", "RepeatOp"]>]> {
  let summary = "call a library";
  let description = [{
    ```mlir
    mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8, lhs_strides = [8, 1], rhs_strides = [2, 1], out_strides = [2, 1]>
      [#mtc.at<0, tensor<4x8xf32>>, #mtc.at<128, tensor<8x2xf32>>] into [#mtc.at<192, tensor<4x2xf32>>] scratch 64 at 256
    ```

    * call_c1: the number of inputs and outputs, their element types and, where the description specifies them, their numbers of
      elements match the description.
    * call_c2: the slices are in device memory.
  }];
  let arguments = (ins Mtc_CallAttr:$call, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let assemblyFormat = [{
    $call $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? (`after` $dependencies^)?
    (`until` $last_uses^)? attr-dict
  }];
  let hasVerifier = 1;
}

def RepeatOp : Mtc_Op<"repeat", [HasParent<"StepOp">, NoTerminator, SingleBlock]> {
  let summary = "run launches, calls and copies several times";
  let description = [{
    `inputs` and `outputs` are the slices of the step that the operations of the body access, and the scratch memory holds all other
    values. A slice in the body may move: in iteration i, a slice `by` n is n * i bytes after its offset. Operations of the body
    specify live ranges like those of a step, within an iteration and by their numbers in the body.

    ```mlir
    mtc.repeat 8 times [#mtc.at<0, tensor<8x16xf32>>] into [#mtc.at<512, tensor<16xf32>>] scratch 64 at 576 until [3] {
      mtc.launch @k [#mtc.at<0, tensor<16xf32> by 64>] into [#mtc.at<576, tensor<16xf32>>] until [1]
      mtc.launch @k [#mtc.at<576, tensor<16xf32>>] into [#mtc.at<512, tensor<16xf32>>] until [-1]
    }
    ```

    * repeat_c1: there is at least one iteration.
    * repeat_c2: in each iteration, the slices of the body are in device memory, within the inputs, outputs, scratch memory, and
      variables.
    * step_c4 and step_c5: see `mtc.step`, for each iteration.
  }];
  let arguments = (ins I64Attr:$iterations, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $iterations `times` $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? (`after` $dependencies^)?
    (`until` $last_uses^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CopyOp : Mtc_Op<"copy", [ParentOneOf<["StepOp", "RepeatOp"]>]> {
  let summary = "copy bytes between slices";
  let description = [{
    ```mlir
    mtc.copy #mtc.at<0, tensor<16xf32>> into #mtc.at<64, tensor<16xf32>>
    ```

    * copy_c1: the slices have the same number of bytes.
  }];
  let arguments = (ins Mtc_AtAttr:$source, Mtc_AtAttr:$destination, Variadic<Mtc_Token>:$dependencies,
                       OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let assemblyFormat = "$source `into` $destination (`after` $dependencies^)? (`until` $last_uses^)? attr-dict";
  let hasVerifier = 1;
}

def AsyncCopyOp : Mtc_Op<"async_copy", [HasParent<"StepOp">]> {
  let summary = "copy bytes between slices asynchronously on a stream";
  let description = [{
    The copy starts after all preceding operations of the step, except copies on other streams that no operation has waited for,
    and after the copies in `dependencies`. Copies on one stream run in order. The following operations run concurrently; an
    operation that accesses a slice of the copy waits for its token.

    ```mlir
    %out = mtc.async_copy #mtc.at<0, tensor<16xf32>> into #mtc.at<0, tensor<16xf32>, host> stream 1
    %back = mtc.async_copy #mtc.at<0, tensor<16xf32>, host> into #mtc.at<0, tensor<16xf32>> stream 2 after %out
    mtc.launch @kernel_0 [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] after %back
    ```

    * async_copy_c1: the slices have the same number of bytes and do not overlap.
    * async_copy_c2: stream numbers start at 1.
  }];
  let arguments = (ins Mtc_AtAttr:$source, Mtc_AtAttr:$destination, I64Attr:$stream, Variadic<Mtc_Token>:$dependencies,
                       OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let results = (outs Mtc_Token:$token);
  let assemblyFormat = [{
    $source `into` $destination `stream` $stream (`after` $dependencies^)? (`until` $last_uses^)? attr-dict
  }];
  let hasVerifier = 1;
}

class Mtc_TransferOp<string mnemonic> : Mtc_Op<mnemonic, [HasParent<"StepOp">]>;

def TransferOp : Mtc_TransferOp<"transfer"> {
  let summary = "exchange slices with the other ranks";
  let description = [{
    The inputs of an `all_to_all` or `own_piece` and the outputs of an `all_gather` are the values. The other side is their pieces.

    ```mlir
    mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
      [#mtc.at<0, tensor<3x8xf32>>] into [#mtc.at<128, tensor<2x16xf32>>]
    ```

    * collective_c2: there is a slice for each value and each piece, or one for the rows of an `all_to_all`, with the element type
      and the size that the collective has.
    * collective_c3: the slices are in device memory.
  }];
  let arguments = (ins Mtc_CollectiveAttr:$collective, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let assemblyFormat = "$collective $inputs `into` $outputs (`after` $dependencies^)? (`until` $last_uses^)? attr-dict";
  let hasVerifier = 1;
}

def AsyncTransferOp : Mtc_TransferOp<"async_transfer"> {
  let summary = "exchange slices with the other ranks asynchronously on a stream";
  let description = [{
    An `mtc.transfer` that runs like `mtc.async_copy`: it starts after all preceding operations of the step, and an operation that
    accesses one of the slices waits for the token. Transfers of one stream start and end in order, but several may be in progress:
    a transfer waits for the tokens of those whose slices it overwrites.

    ```mlir
    %t = mtc.async_transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
      [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<128, tensor<2x16xf32>>] stream 3
    mtc.launch @kernel_0 [#mtc.at<128, tensor<2x16xf32>>] into [#mtc.at<256, tensor<16xf32>>] after %t
    ```

    * collective_c2 and collective_c3: see `mtc.transfer`.
    * collective_c4: stream numbers start at 1.
  }];
  let arguments = (ins Mtc_CollectiveAttr:$collective, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs, I64Attr:$stream,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let results = (outs Mtc_Token:$token);
  let assemblyFormat = [{
    $collective $inputs `into` $outputs `stream` $stream (`after` $dependencies^)? (`until` $last_uses^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MTC_IR_PLAN_OPS
