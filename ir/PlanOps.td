//===- PlanOps.td - The placed program: buffers with addresses ----------------------------------===//
//
// The last form before code. Order is fixed, every value is a slice of the arena, and each operation says where it reads
// and writes.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_PLAN_OPS
#define MTC_IR_PLAN_OPS

include "ir/Calls.td"

def ArenaOp : Mtc_Op<"arena"> {
  let summary = "the memory of a program";
  let description = [{
    `live` is the most that is alive at once: no placement needs less; `peak_at` is the operation that runs then, of whose
    scratch are `workspace_bytes`. The inputs take `data_bytes`. Where `staging` is not 0, it is the distance in bytes from
    each input to the slice in which the next batch's is read meanwhile. Functions that write transient variables need an
    arena of `aside` bytes, where that is more.

    ```mlir
    mtc.arena size 1331200 live 1290240
    ```
  }];
  let arguments = (ins I64Attr:$size, I64Attr:$live, DefaultValuedAttr<I64Attr, "0">:$data_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes, DefaultValuedAttr<I64Attr, "0">:$staging,
                       DefaultValuedAttr<I64Attr, "0">:$aside, OptionalAttr<Mtc_LocationAttr>:$peak_at);
  let assemblyFormat = "`size` $size `live` $live attr-dict";
}

def KernelFunctionOp : Mtc_Op<"kernel_function", [Symbol, IsolatedFromAbove,
                                                  SingleBlockImplicitTerminator<"KernelYieldOp">]> {
  let summary = "a kernel apart from its operands, which launches share";
  let description = [{
    The body's arguments are the inputs; results have the types `outputs`. See `mtc.kernel`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$space, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reduced,
                       TypeArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $space (`reduce` $reduced^)? `->` $outputs attr-dict-with-keyword $body";
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
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Mtc_AtArrayAttr:$inputs, StrArrayAttr:$input_names,
                       Mtc_AtArrayAttr:$outputs, StrArrayAttr:$output_names);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `reads` $input_names $inputs `gives` $output_names $outputs attr-dict-with-keyword $body
  }];
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
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes);
  let assemblyFormat = [{
    $kernel $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? attr-dict
  }];
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
  }];
  let arguments = (ins Mtc_CallAttr:$call, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes);
  let assemblyFormat = [{
    $call $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? attr-dict
  }];
  let hasVerifier = 1;
}

def CopyOp : Mtc_Op<"copy", [HasParent<"StepOp">]> {
  let summary = "copies bytes from slice to slice";
  let arguments = (ins Mtc_AtAttr:$source, Mtc_AtAttr:$destination);
  let assemblyFormat = "$source `into` $destination attr-dict";
}

#endif // MTC_IR_PLAN_OPS
