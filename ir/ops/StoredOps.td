//===- StoredOps.td - Matrices that are stored in fewer bits -------------------------------------===//

#ifndef MTC_IR_STORED_OPS
#define MTC_IR_STORED_OPS

include "ir/MtcBase.td"

def StoredContractOp : Mtc_ValueOp<"stored_contract", [Mtc_NoGradient, DeclareOpInterfaceMethods<LibraryCallOpInterface>]> {
  let summary = "a contraction with a matrix that is stored in fewer bits";
  let description = [{
    What `mtc.contract` gives of the input and the matrix, which the library reads from what it is stored in
    (`runtime/abi/storage.h`): nothing holds the matrix itself. `over` names an axis of each; of the result the matrix's axis is the
    last, or the first. `mtc-store-frozen` builds it.

    ```mlir
    %y = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
    ```

    * stored_contract_c1: the matrix has rank 2, and what it is stored in has the type of a #mtc.stored of it.
    * stored_contract_c2: the axes exist and are equally long.
    * stored_contract_c3: the result has the extents that remain; the input is f32, bf16 or f16 and the result as it or f32.
  }];
  let arguments = (ins Mtc_FloatTensor:$input, Mtc_NumberTensor:$matrix, I64Attr:$axis, I64Attr:$matrix_axis,
                       Mtc_StorageAttr:$storage, TypeAttr:$matrix_type, UnitAttr:$matrix_first);
  let results = (outs Mtc_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $matrix `over` $axis `x` $matrix_axis `of` $storage $matrix_type (`first` $matrix_first^)? attr-dict
      `:` type($input) `,` type($matrix) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    ::mtc::Cost getCost();
    /// What is stored.
    ::mlir::RankedTensorType getStoredMatrix() { return ::mlir::cast<::mlir::RankedTensorType>(getMatrixType()); }
    /// Axes of the input that are not summed over, ascending.
    ::llvm::SmallVector<int64_t> getFree();
  }];
}

def WidenStoredOp : Mtc_ValueOp<"widen_stored", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "a matrix that is stored in NF4, as f32";
  let description = [{
    For targets whose libraries read no codes: a buffer holds the matrix while a contraction does.

    ```mlir
    %f = mtc.widen_stored %w : tensor<360xui8> -> tensor<10x64xf32>
    ```

    * widen_stored_c1: the operand has the type of a #mtc.stored of the result in nf4.
  }];
  let arguments = (ins Mtc_NumberTensor:$stored);
  let results = (outs Mtc_FloatTensor:$result);
  let assemblyFormat = "$stored attr-dict `:` type($stored) `->` type($result)";
  let hasVerifier = 1;
}

#endif // MTC_IR_STORED_OPS
