//===- TileOps.td - Tiled values ----------------------------------------------------------------===//

#ifndef MTC_IR_TILE_OPS
#define MTC_IR_TILE_OPS

include "ir/MtcBase.td"

def TileOp : Mtc_Op<"tile", [Pure, Mtc_View, Mtc_StridedMovement, Mtc_NoGradient]> {
  let summary = "a contiguous chunk of a value, without a copy";
  let description = [{
    The result's elements are the source's elements from number `offset`, in row-major order.

    ```mlir
    %p = mtc.tile %x from 16 : tensor<4x8xf32> -> tensor<2x8xf32>
    ```

    * tile_c1: the chunk is within the source; element types are equal.
    * tile_c2: the chunk starts at a multiple of the arena's alignment, 64 bytes.
  }];
  let arguments = (ins Mtc_Tensor:$source, I64Attr:$offset);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$source `from` $offset attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def AssembleOp : Mtc_Op<"assemble", [Pure, Mtc_NoGradient]> {
  let summary = "concatenate tiles in row-major order";
  let description = [{
    The result's elements are those of the first operand, then those of the second, and so on, in row-major order. Operands
    without other users are computed in place in the result; others are copied into it.

    ```mlir
    %x = mtc.assemble %p, %q : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    ```

    * assemble_c1: the operands together have as many elements as the result, of the same type.
    * assemble_c2: each operand starts at a multiple of the arena's alignment, 64 bytes.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$tiles);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$tiles attr-dict `:` type($tiles) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the byte offset of a tile in the result.
    int64_t getOffsetInBytes(unsigned tile);
  }];
}

#endif // MTC_IR_TILE_OPS
