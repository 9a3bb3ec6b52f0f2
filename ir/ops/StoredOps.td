//===- StoredOps.td - Matrices in compressed storage formats -------------------------------------===//

#ifndef MTC_IR_STORED_OPS
#define MTC_IR_STORED_OPS

include "ir/MtcBase.td"

def StoredContractOp : Mtc_ValueOp<"stored_contract", [Mtc_NoGradient, DeclareOpInterfaceMethods<LibraryCallOpInterface>]> {
  let summary = "a contraction with a compressed matrix";
  let description = [{
    Computes `mtc.contract` of the input and the matrix. The library reads the matrix in its storage format
    (`runtime/abi/storage.h`), so the uncompressed matrix is never materialized. `over` names the contracted axis of each operand;
    the remaining axis of the matrix is the last axis of the result, or the first. `mtc-store-frozen` creates this operation.

    ```mlir
    %y = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
    ```

    * stored_contract_c1: the matrix has rank 2, and the operand has the stored type of a #mtc.stored of the matrix.
    * stored_contract_c2: the axes exist and have equal extents.
    * stored_contract_c3: the result has the remaining extents; the input is f32, bf16 or f16, and the result has the input's
      element type or f32.
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
    /// Returns the type of the uncompressed matrix.
    ::mlir::RankedTensorType getStoredMatrix() { return ::mlir::cast<::mlir::RankedTensorType>(getMatrixType()); }
    /// Returns the axes of the input that are not contracted, ascending.
    ::llvm::SmallVector<int64_t> getFree();
  }];
}

def WidenStoredOp : Mtc_ValueOp<"widen_stored", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "decompress an NF4 matrix to f32";
  let description = [{
    For targets whose libraries do not read NF4 codes: a buffer holds the f32 matrix during the contraction.

    ```mlir
    %f = mtc.widen_stored %w : tensor<360xui8> -> tensor<10x64xf32>
    ```

    * widen_stored_c1: the operand has the stored type of a #mtc.stored of the result in nf4.
  }];
  let arguments = (ins Mtc_NumberTensor:$stored);
  let results = (outs Mtc_FloatTensor:$result);
  let assemblyFormat = "$stored attr-dict `:` type($stored) `->` type($result)";
  let hasVerifier = 1;
}

#endif // MTC_IR_STORED_OPS
