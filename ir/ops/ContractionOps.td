//===- ContractionOps.td - Contractions ----------------------------------------------------===//

#ifndef MTC_IR_CONTRACTION_OPS
#define MTC_IR_CONTRACTION_OPS

include "ir/MtcBase.td"

def ContractOp : Mtc_ValueOp<"contract", [
    Mtc_Transposable, Mtc_Gradient, Mtc_Fusible, DeclareOpInterfaceMethods<EpilogueOpInterface>,
    DeclareOpInterfaceMethods<LibraryCallOpInterface, ["isLibraryCall"]>, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "generalized matrix multiplication over common axes";
  let description = [{
    The result's axes are the batch axes (in the given order), then the remaining axes of lhs, then those of rhs.

    ```mlir
    %y = mtc.contract %a, %b batch [0] x [0] over [2] x [1]
           : tensor<4x8x16xf32>, tensor<4x16x32xf32> -> tensor<4x8x32xf32>
    ```

    * contract_c1: batch and contracted axes are distinct, within the ranks, and of the same number on both sides.
    * contract_c2: paired axes have equal extents.
    * contract_c3: the result has the corresponding extents. Element types are equal, except that the result may be f32 if the
      operands are narrower: the unrounded f32 accumulators.
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
    bool acceptsResultType(unsigned, ::mlir::Type operands, ::mlir::Type stored) {
      return ::mtc::holdsSumsOf(operands, stored);
    }
    ::mtc::Cost getCost();
    /// Returns the axes of an operand that are neither batch nor contracted axes, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

def FusedContractOp : Mtc_ValueOp<"fused_contract", [
    Mtc_NoGradient, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<EpilogueOpInterface>, DeclareOpInterfaceMethods<LibraryCallOpInterface>,
    DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "a contraction with an epilogue";
  let description = [{
    Addends, such as a bias (a strided view that broadcasts it), a residual or an accumulator, are added to the sums of
    `mtc.contract`. With z as the total, the result is

        relu           z where z > 0, NaN where z is NaN, 0 elsewhere
        gelu           g(z) = z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 z^3)))
        gelu_gradient  z * g'(preactivation)

    and z without an activation. `auxiliary` is z, the pre-activation that the gradient needs. `sums` is the gradient of a bias:
    the sum of the result over all axes but the remaining axes of rhs, or the sum of an operand over its contracted axes, with its
    remaining axes in ascending order. `mtc-fuse-epilogues`, `mtc-fuse-activations` and `mtc-fuse-bias-gradients` create this
    operation.

    ```mlir
    %y, %z = mtc.fused_contract %x, %w batch [] x [] over [1] x [0] then gelu
               : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> auxiliary tensor<4x16xf32>
    %d, %s = mtc.fused_contract %u, %v batch [] x [] over [1] x [0] then gelu_gradient at %z : tensor<4x16xf32> summing result
               : tensor<4x2xf32>, tensor<2x16xf32> -> tensor<4x16xf32> sums tensor<16xf32>
    ```

    * contract_c1 to contract_c3: see `mtc.contract`.
    * fused_contract_c1: elements are floats of at most 32 bits, and there are contracted axes.
    * fused_contract_c2: there is an addend, an activation or a sum.
    * fused_contract_c3: gelu_gradient, and no other activation, has a pre-activation, of the result's type.
    * fused_contract_c4: only gelu has an auxiliary result, of the result's type.
    * fused_contract_c5: `sums` and `summed` are both present or both absent; `sums` has the remaining extents, and requires that
      there are no batch axes.
    * fused_contract_c6: there are at most two addends, which have the result's extents and the operands' element type, or f32
      with narrower operands.
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
    /// The number of operands before the addends.
    static constexpr unsigned firstAddend = 2;
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    bool acceptsResultType(unsigned, ::mlir::Type operands, ::mlir::Type stored) {
      return ::mtc::holdsSumsOf(operands, stored);
    }
    ::mtc::Cost getCost();
    ::mlir::RankedTensorType getType() { return getResult().getType(); }
  }];
}

#endif // MTC_IR_CONTRACTION_OPS
