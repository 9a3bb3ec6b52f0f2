//===- ReductionOps.td - Reductions, contraction, prefix sums, selection ------------------------===//

#ifndef MTC_IR_REDUCTION_OPS
#define MTC_IR_REDUCTION_OPS

include "ir/MtcBase.td"

def ReduceOp : Mtc_ValueOp<"reduce", [Mtc_Transposable, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "combines the elements along axes";
  let description = [{
    The axes vanish. `max` and `min` give NaN if an element is NaN; their cotangent is shared equally by the elements
    that attain the extremum, as in PyTorch's amax.

    ```mlir
    %s = mtc.reduce add %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```

    * reduce_c1: axes ascend and lie within the operand's rank.
    * reduce_c2: the result has the operand's extents without the axes.
    * reduce_c3: `and` and `or` reduce i1, the others numbers.
  }];
  let arguments = (ins Mtc_ReductionKindAttr:$kind, Mtc_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$kind $input `axes` $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
    ::mtc::Cost getCost();
  }];
}

def ContractOp : Mtc_ValueOp<"contract", [
    Mtc_Transposable, Mtc_Gradient, Mtc_Fusible, DeclareOpInterfaceMethods<EpilogueOpInterface>,
    DeclareOpInterfaceMethods<LibraryCallOpInterface, ["isLibraryCall"]>, DeclareOpInterfaceMethods<PiecewiseOpInterface>]> {
  let summary = "sums of products over common axes";
  let description = [{
    The result's axes are the batch axes (in the order given), the operand lhs's remaining axes, then rhs's.

    ```mlir
    %y = mtc.contract %a, %b batch [0] x [0] over [2] x [1]
           : tensor<4x8x16xf32>, tensor<4x16x32xf32> -> tensor<4x8x32xf32>
    ```

    * contract_c1: batch and contracted axes are distinct, within the ranks, and equally many on both sides.
    * contract_c2: paired axes have equal extents.
    * contract_c3: the result has the extents that follow; element types are equal, but the result may be f32 where operands have
      16 bits: the sums, which are kept in f32, unrounded.
  }];
  let arguments = (ins Mtc_NumberTensor:$lhs, Mtc_NumberTensor:$rhs, DenseI64ArrayAttr:$lhs_batch,
                       DenseI64ArrayAttr:$rhs_batch, DenseI64ArrayAttr:$lhs_contract,
                       DenseI64ArrayAttr:$rhs_contract);
  let results = (outs Mtc_NumberTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `over` $lhs_contract `x` $rhs_contract
      attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    ::mtc::ResultStorage getResultStorage(unsigned) { return ::mtc::ResultStorage::Either; }
    ::mtc::Cost getCost();
    /// Axes of an operand that are neither batch nor contracted, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

def FusedContractOp : Mtc_ValueOp<"fused_contract", [
    Mtc_NoGradient, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<EpilogueOpInterface>, DeclareOpInterfaceMethods<LibraryCallOpInterface>,
    DeclareOpInterfaceMethods<PiecewiseOpInterface>]> {
  let summary = "a contraction with an epilogue";
  let description = [{
    Addends are added to the sums of `mtc.contract`: a bias (as a strided view that repeats it), a residual, what is
    accumulated. Of these sums z the result is

        relu           z where z > 0, NaN where z is, 0 elsewhere
        gelu           g(z) = z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 z^3)))
        gelu_gradient  z * g'(preactivation)

    and z without an activation. `auxiliary` gives z itself, too: the pre-activation that the gradient needs. `sums` is the sum of
    the result over all axes but rhs's remaining ones, or of an operand over its contracted axes, its remaining ones in
    ascending order: the gradient of a bias. `mtc-fuse-epilogues`, `mtc-fuse-activations` and `mtc-fuse-bias-gradients`
    build it.

    ```mlir
    %y, %z = mtc.fused_contract %x, %w batch [] x [] over [1] x [0] then gelu
               : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<4x16xf32>
    %d, %s = mtc.fused_contract %u, %v batch [] x [] over [1] x [0] then gelu_gradient at %z : tensor<4x16xf32> summing result
               : tensor<4x2xf32>, tensor<2x16xf32> -> tensor<4x16xf32> sums tensor<16xf32>
    ```

    * contract_c1 to contract_c3: as of `mtc.contract`.
    * fused_contract_c1: elements are floats of at most 32 bits, and there are contracted axes.
    * fused_contract_c2: there is an addend, an activation or a sum.
    * fused_contract_c3: gelu_gradient, and no other, has a pre-activation, of the result's type.
    * fused_contract_c4: only gelu has an auxiliary result, of the result's type.
    * fused_contract_c5: the sum and what is summed go together; it has the extents that remain, and there are no batch axes.
    * fused_contract_c6: there are at most two addends of the result's extents, of the operands' element type or, beside 16-bit ones,
      f32.
  }];
  let arguments = (ins Mtc_NumberTensor:$lhs, Mtc_NumberTensor:$rhs, Variadic<Mtc_NumberTensor>:$addends,
                       Optional<Mtc_NumberTensor>:$preactivation, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract,
                       OptionalAttr<Mtc_ActivationAttr>:$activation, OptionalAttr<Mtc_SummedAttr>:$summed);
  let results = (outs Mtc_NumberTensor:$result, Optional<Mtc_NumberTensor>:$auxiliary, Optional<Mtc_NumberTensor>:$sums);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `over` $lhs_contract `x` $rhs_contract
      (`adding` $addends^ `:` type($addends))? (`then` $activation^)? (`at` $preactivation^ `:` type($preactivation))?
      (`summing` $summed^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result) (`auxiliary` type($auxiliary)^)?
      (`sums` type($sums)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr unsigned maxAddends = 2;
    /// Operands in front of the addends.
    static constexpr unsigned firstAddend = 2;
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    ::mtc::ResultStorage getResultStorage(unsigned) { return ::mtc::ResultStorage::Either; }
    ::mtc::Cost getCost();
    ::mlir::RankedTensorType getType() { return getResult().getType(); }
  }];
}

def CumulativeSumOp : Mtc_ValueOp<"cumulative_sum", [SameOperandsAndResultType, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "sums of the elements up to each one along an axis";
  let description = [{
    With `exclusive` the element itself is left out; with `reverse` the sum runs from the end.

    ```mlir
    %s = mtc.cumulative_sum %x axis 1 exclusive : tensor<4x8xf32>
    ```

    * cumulative_sum_c1: the axis lies within the rank.
  }];
  let arguments = (ins Mtc_NumberTensor:$input, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Mtc_NumberTensor:$result);
  let assemblyFormat = "$input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
  let extraClassDeclaration = rangeSensitive;
}

def TopKOp : Mtc_ValueOp<"top_k", [Mtc_Gradient, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "the k largest (or smallest) elements along the last axis, in order, and their indices";
  let description = [{
    Found without sorting: an element's place is the number of elements that come before it. Equal elements keep their
    order; NaN counts as largest.

    ```mlir
    %v, %i = mtc.top_k %x : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
    ```

    * top_k_c1: the results have the operand's extents but for the last, which is between 1 and the operand's.
  }];
  let arguments = (ins Mtc_NumberTensor:$input, UnitAttr:$smallest);
  let results = (outs Mtc_NumberTensor:$values, Mtc_IntegerTensor:$indices);
  let assemblyFormat = "$input (`smallest` $smallest^)? attr-dict `:` type($input) `->` type($values) `,` type($indices)";
  let hasVerifier = 1;
}

def RandomBitsOp : Mtc_ValueOp<"random_bits", [Mtc_ZeroGradient, Mtc_Fusible]> {
  let summary = "32 random bits for each element";
  let description = [{
    The first word of Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011) with the
    key `seed` and the counter (element, stream, step), where the step takes two words: executing it again in the same
    step gives the same bits. `stream` tells the operations of a program apart.

    ```mlir
    %r = mtc.random_bits %seed, %step stream 3 : (tensor<i64>, tensor<i64>) -> tensor<4x8xi32>
    ```

    * random_bits_c1: seed and step are tensor<i64>; the stream fits into 32 bits.
    * random_bits_c2: the result has 32-bit integers, and no more of them than 32 bits can number.
  }];
  let arguments = (ins Mtc_IntegerTensor:$seed, Mtc_IntegerTensor:$step, I64Attr:$stream);
  let results = (outs Mtc_IntegerTensor:$result);
  let assemblyFormat = "$seed `,` $step `stream` $stream attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::Cost getCost();
  }];
}

#endif // MTC_IR_REDUCTION_OPS
