//===- PlanOps.td - The allocated program: buffers with addresses ----------------------------------===//
//
// The last form before code. Order is fixed, every value is a slice of the arena, and each operation says where it reads
// and writes.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_PLAN_OPS
#define MTC_IR_PLAN_OPS

include "ir/calls/Calls.td"

def Mtc_KernelPlanAttr : Attr<CPred<"::llvm::isa<::mtc::KernelPlanAttrInterface>($_self)">, "plan of a kernel"> {
  let storageType = "::mtc::KernelPlanAttrInterface";
  let returnType = "::mtc::KernelPlanAttrInterface";
  let convertFromStorage = "$_self";
}

def ArenaOp : Mtc_Op<"arena"> {
  let summary = "the memory of a program in one space";
  let description = [{
    What kernels and library calls compute with, variables, and what the runtime reads and writes lie on the device. Arenas of
    other spaces hold what copies move there and back; all that is said of them is their size.

    `live` is the most that is alive at once: no placement needs less; `peak_at` is the operation that runs then, of whose
    scratch are `workspace_bytes`. The inputs take `data_bytes`. Where `staging` is not 0, it is the distance in bytes from
    each input to the slice in which the next batch's is read meanwhile. No plan of the same operations needs less than `floor`
    bytes. Functions that write transient variables, or that are `mtc.aside`, need an arena of `aside` bytes, where that is
    more. `redzone` bytes or more that nothing takes follow each value in a program that checks what its operations write.

    ```mlir
    mtc.arena size 1331200 live 1290240
    mtc.arena in host size 4096 live 4096
    ```

    * arena_c1: a space has one arena.
  }];
  let arguments = (ins I64Attr:$size, I64Attr:$live, DefaultValuedAttr<I64Attr, "0">:$data_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes, DefaultValuedAttr<I64Attr, "0">:$staging,
                       DefaultValuedAttr<I64Attr, "0">:$aside, OptionalAttr<Mtc_LocationAttr>:$peak_at,
                       DefaultValuedAttr<Mtc_MemorySpaceAttr, "::mtc::MemorySpace::Device">:$space,
                       DefaultValuedAttr<I64Attr, "0">:$floor, DefaultValuedAttr<I64Attr, "0">:$redzone);
  let assemblyFormat = "(`in` $space^)? `size` $size `live` $live attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The arena of a space; null where a module has none.
    static ArenaOp find(::mlir::ModuleOp placed, ::mtc::MemorySpace space = ::mtc::MemorySpace::Device);
  }];
}

def TransferSlotsOp : Mtc_Op<"transfer_slots", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "memory of the device through which windows of variables in other spaces pass";
  let description = [{
    A kernel that reads or writes variables in other spaces runs in windows: ranges of its rows. What a window has of these
    variables is copied into a slot, the kernel reads and writes it there, and what it wrote is copied back. Windows take
    the slots in turn, so that copies of some run while others compute.

    ```mlir
    mtc.transfer_slots 4 size 8388608
    ```

    * transfer_slots_c1: there is at least one slot; sizes are a multiple of 4096, as are the slots' offsets.
  }];
  let arguments = (ins I64Attr:$count, I64Attr:$size);
  let assemblyFormat = "$count `size` $size attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Slots, what lies in them, and slices in other spaces begin at multiples of it: whole pages are copied directly.
    static constexpr int64_t alignment = 4096;
    int64_t getBytes() { return getCount() * getSize(); }
    static TransferSlotsOp find(::mlir::ModuleOp module);
  }];
}

def KernelFunctionOp : Mtc_Op<"kernel_function", [Symbol, IsolatedFromAbove,
                                                  SingleBlockImplicitTerminator<"KernelYieldOp">]> {
  let summary = "a kernel apart from its operands, which launches share";
  let description = [{
    The body's arguments are the inputs; results have the types `outputs`. See `mtc.kernel`. `plan` is how the target runs
    it, which code generation makes where it is absent.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$space, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reduced,
                       OptionalAttr<I64Attr>:$points, TypeArrayAttr:$outputs, OptionalAttr<Mtc_KernelPlanAttr>:$plan);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $space (`points` $points^)? (`reduce` $reduced^)? `->` $outputs (`plan` $plan^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::FusibleShape getShape();
    ::mtc::Cost getCost();
    ::llvm::SmallVector<::mlir::RankedTensorType> getInputTypes();
    ::llvm::SmallVector<::mlir::RankedTensorType> getOutputTypes();
  }];
}

def StepOp : Mtc_Op<"step", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "one of the program's functions: launches and calls in order";
  let description = [{
    `inputs` and `outputs` are the slices of what the runtime writes before and reads after; their names are in
    `input_names` and `output_names`.

    Operations run in their order, but for copies on streams (`mtc.async_copy`). What a copy on a stream reads must not be
    written, and what it writes neither read nor written, until an operation has waited for its token; the step's end waits
    for all.

    Operations may say how long each of their results lives (`until`): to the operation of that number, from 0, which reads it
    last, or to the step's end, where that is the number of operations; -1 says that the result is a part of what lives
    already, such as a variable. Variables and inputs live throughout. A result may lie where a value does that its operation
    is the last to read.

    ```mlir
    mtc.launch @k [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<8xf32>>] until [1]
    mtc.launch @k [#mtc.at<64, tensor<8xf32>>] into [#mtc.at<64, tensor<8xf32>>] until [2]
    ```

    * step_c1: operations wait for copies on streams before they touch what these copies do.
    * step_c2: what is copied lies within the arena of its space, where the module has arenas.
    * step_c3: inputs and outputs lie on the device.
    * step_c4: what lives at the same time lies apart; said of all operations or of none.
    * step_c5: what is read, and what the step gives, lives then.
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

def LaunchOp : Mtc_Op<"launch", [HasParent<"StepOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    ```mlir
    mtc.launch @k0 [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<8xf32>>]
    mtc.launch @k1 [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<f32>>] scratch 256 at 128
    ```

    The scratch is what the target passes between the stages of a kernel.

    * launch_c1: the symbol names a kernel function whose inputs and outputs have the slices' types.
    * launch_c2: the slices lie on the device.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       Variadic<Mtc_Token>:$dependencies, OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let assemblyFormat = [{
    $kernel $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? (`after` $dependencies^)?
    (`until` $last_uses^)? attr-dict
  }];
  let hasVerifier = 1;
}

def CallOp : Mtc_Op<"call", [HasParent<"StepOp">]> {
  let summary = "runs a library";
  let description = [{
    ```mlir
    mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8, lhs_strides = [8, 1], rhs_strides = [2, 1], out_strides = [2, 1]>
      [#mtc.at<0, tensor<4x8xf32>>, #mtc.at<128, tensor<8x2xf32>>] into [#mtc.at<192, tensor<4x2xf32>>] scratch 64 at 256
    ```

    * call_c1: inputs and outputs are as many as the description says, of its element types, and of as many elements where
      it says so.
    * call_c2: the slices lie on the device.
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

def CopyOp : Mtc_Op<"copy", [HasParent<"StepOp">]> {
  let summary = "copies bytes from slice to slice";
  let description = [{
    ```mlir
    mtc.copy #mtc.at<0, tensor<16xf32>> into #mtc.at<64, tensor<16xf32>>
    ```

    * copy_c1: the slices have equally many bytes.
  }];
  let arguments = (ins Mtc_AtAttr:$source, Mtc_AtAttr:$destination, Variadic<Mtc_Token>:$dependencies,
                       OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let assemblyFormat = "$source `into` $destination (`after` $dependencies^)? (`until` $last_uses^)? attr-dict";
  let hasVerifier = 1;
}

def AsyncCopyOp : Mtc_Op<"async_copy", [HasParent<"StepOp">]> {
  let summary = "copies bytes from slice to slice on a stream, while the step goes on";
  let description = [{
    It starts when what stands before it in the step has run, except for copies on other streams that nobody waited for, and
    when the copies that it waits for have ended. The copies of a stream run one after another. The step goes on meanwhile; an
    operation that touches what the copy does waits for its token.

    ```mlir
    %out = mtc.async_copy #mtc.at<0, tensor<16xf32>> into #mtc.at<0, tensor<16xf32>, host> stream 1
    %back = mtc.async_copy #mtc.at<0, tensor<16xf32>, host> into #mtc.at<0, tensor<16xf32>> stream 2 after %out
    mtc.launch @kernel_0 [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] after %back
    ```

    * async_copy_c1: the slices have equally many bytes and do not overlap.
    * async_copy_c2: streams count from 1.
  }];
  let arguments = (ins Mtc_AtAttr:$source, Mtc_AtAttr:$destination, I64Attr:$stream, Variadic<Mtc_Token>:$dependencies,
                       OptionalAttr<DenseI64ArrayAttr>:$last_uses);
  let results = (outs Mtc_Token:$token);
  let assemblyFormat = [{
    $source `into` $destination `stream` $stream (`after` $dependencies^)? (`until` $last_uses^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MTC_IR_PLAN_OPS
