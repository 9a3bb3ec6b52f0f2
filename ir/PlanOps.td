//===- PlanOps.td - The placed program: buffers with addresses ----------------------------------===//
//
// The last form before code. Order is fixed, every value is a place in the arena, and each operation says where it reads
// and writes.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_PLAN_OPS
#define MTC_IR_PLAN_OPS

include "ir/MtcBase.td"

def ArenaOp : Mtc_Op<"arena"> {
  let summary = "the memory of a program";
  let description = [{
    `live` is the most that is alive at once: no placement needs less; `peak_at` is the operation that runs then, of whose
    scratch are `workspace_bytes`. The inputs take `data_bytes`. Where `staging` is not 0, it is the distance in bytes from
    each input to the place in which the next batch's is read meanwhile. Functions that write transient variables need an
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
  let summary = "a kernel apart from its operands, launched from several places";
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
    `inputs` and `outputs` are the places of what the runtime writes before and reads after; their names are in
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

    * launch_c1: the symbol names a kernel function whose inputs and outputs have the places' types.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_offset, DefaultValuedAttr<I64Attr, "0">:$scratch_bytes);
  let assemblyFormat = [{
    $kernel $inputs `into` $outputs (`scratch` $scratch_bytes^ `at` $scratch_offset)? attr-dict
  }];
}

def CallContractOp : Mtc_Op<"call_contract", [HasParent<"StepOp">, Mtc_PlacedCall]> {
  let summary = "contraction by the target's library";
  let description = [{
    As `MtcContraction` of the runtime's ABI: out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n] + sum of
    the addends[b.., m, n], then an activation. Strides are in elements, batch dimensions first; those of the addends follow
    one another. `point` and `kept` lie as `out` does.
  }];
  let arguments = (ins Mtc_AtAttr:$lhs, Mtc_AtAttr:$rhs, Mtc_AtAttr:$out, I64Attr:$scratch_offset, I64Attr:$scratch_bytes,
                       DenseI64ArrayAttr:$batch, I64Attr:$m, I64Attr:$n, I64Attr:$k, DenseI64ArrayAttr:$lhs_strides,
                       DenseI64ArrayAttr:$rhs_strides, DenseI64ArrayAttr:$out_strides, UnitAttr:$accumulate,
                       DefaultValuedAttr<Mtc_AtArrayAttr, "{}">:$addends,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$addend_strides,
                       OptionalAttr<Mtc_ActivationAttr>:$activation, OptionalAttr<Mtc_AtAttr>:$point,
                       OptionalAttr<Mtc_AtAttr>:$kept, OptionalAttr<Mtc_SummedAttr>:$summed,
                       OptionalAttr<Mtc_AtAttr>:$sums);
  let assemblyFormat = [{
    $lhs $lhs_strides `,` $rhs $rhs_strides `into` $out $out_strides (`accumulate` $accumulate^)?
      (`adding` $addends^ $addend_strides)? (`then` $activation^)? (`at` $point^)? (`keeping` $kept^)?
      (`summing` $summed^ `into` $sums)? `batch` $batch `m` $m `n` $n `k` $k `scratch` $scratch_bytes `at` $scratch_offset attr-dict
  }];
}

def CallAttentionOp : Mtc_Op<"call_attention", [HasParent<"StepOp">, Mtc_PlacedCall]> {
  let summary = "attention or its gradient by the target's library";
  let description = [{
    As `MtcAttention` of the runtime's ABI. Strides are in elements by [batch, heads, queries or keys, width], 0 along axes
    that repeat a bias or a mask; those of the gradient's three results follow each other. `saved` are those of `out`
    where the gradient is given it.
  }];
  let arguments = (ins UnitAttr:$gradient, Mtc_AtArrayAttr:$inputs, Mtc_AtArrayAttr:$outputs, I64Attr:$scratch_offset,
                       I64Attr:$scratch_bytes, I64Attr:$batch, I64Attr:$heads, I64Attr:$key_heads, I64Attr:$queries,
                       I64Attr:$keys, I64Attr:$width, I64Attr:$value_width, F64Attr:$scale, OptionalAttr<I64Attr>:$causal,
                       DenseI64ArrayAttr:$query_strides, DenseI64ArrayAttr:$key_strides, DenseI64ArrayAttr:$value_strides,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$bias_strides, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$mask_strides, DenseI64ArrayAttr:$out_strides,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$saved_out_strides,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$gradient_strides, I64Attr:$flops, I64Attr:$bytes);
  let assemblyFormat = [{
    (`gradient` $gradient^)? $inputs `into` $outputs `batch` $batch `heads` $heads `of` $key_heads `queries` $queries
      `keys` $keys `width` $width `,` $value_width `scale` $scale (`causal` $causal^)? `strides` $query_strides `,`
      $key_strides `,` $value_strides (`bias` $bias_strides^)? (`mask` $mask_strides^)? `out` $out_strides
      (`saved` $saved_out_strides^)? (`gradients` $gradient_strides^)? `scratch` $scratch_bytes `at` $scratch_offset `costs` $flops `,` $bytes attr-dict
  }];
}

def CopyOp : Mtc_Op<"copy", [HasParent<"StepOp">]> {
  let summary = "copies bytes from place to place";
  let arguments = (ins Mtc_AtAttr:$source, Mtc_AtAttr:$destination);
  let assemblyFormat = "$source `into` $destination attr-dict";
}

#endif // MTC_IR_PLAN_OPS
