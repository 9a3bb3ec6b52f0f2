//===- IndexingOps.td - Indexed access ----------------------------------------------------------===//

#ifndef MTC_IR_INDEXING_OPS
#define MTC_IR_INDEXING_OPS

include "ir/MtcBase.td"

def GatherOp : Mtc_ValueOp<"gather", [Mtc_Transposable, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "gather elements at indices along an axis";
  let description = [{
    The first `batch` axes of operand and indices are common batch axes. With b = batch:

        result[i_0..i_{axis-1}, j_b..j_m, i_{axis+1}..] = input[i_0..i_{axis-1}, indices[i_0..i_{b-1}, j_b..j_m], i_{axis+1}..]

    A negative index counts from the end. An index outside the axis terminates the run with an error that names the node.

    ```mlir
    %y = mtc.gather %x, %i axis 1 batch 1 : tensor<4x10x8xf32>, tensor<4x3xi64> -> tensor<4x3x8xf32>
    ```

    * gather_c1: 0 <= batch <= axis < rank of the operand; batch <= rank of the indices.
    * gather_c2: the batch extents of operand and indices are equal.
    * gather_c3: the result has the corresponding extents and the operand's element type.
    * gather_c4: if there are indices, the operand has an element along the axis.
  }];
  let arguments = (ins Mtc_Tensor:$input, Mtc_IntegerTensor:$indices, I64Attr:$axis, I64Attr:$batch);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `axis` $axis `batch` $batch attr-dict `:` type($input) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ScatterAddOp : Mtc_ValueOp<"scatter_add", [Mtc_Gradient, Mtc_Fusible]> {
  let summary = "add updates at indices along an axis, the adjoint of gather";
  let description = [{
    The result is `onto`, or zero if it is absent, plus each element of `updates` at the position from which `gather` with the
    same indices, axis and batch would read it. Updates of one position are added in row-major order, so that the sum is
    deterministic.

    ```mlir
    %y = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<3x8xf32>, tensor<3xi64> -> tensor<10x8xf32>
    ```

    * scatter_add_c1: `gather` of the result at the indices has the type of the updates.
    * scatter_add_c2: `onto` has the result's type.
  }];
  let arguments = (ins Mtc_NumberTensor:$updates, Mtc_IntegerTensor:$indices, I64Attr:$axis, I64Attr:$batch,
                       Optional<Mtc_NumberTensor>:$onto);
  let results = (outs Mtc_NumberTensor:$result);
  let assemblyFormat = [{
    $updates `,` $indices `axis` $axis `batch` $batch (`onto` $onto^ `:` type($onto))? attr-dict
      `:` type($updates) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = rangeSensitive;
}

#endif // MTC_IR_INDEXING_OPS
