//===- TileOps.td - Values in tiles -------------------------------------------------------------===//

#ifndef MTC_IR_TILE_OPS
#define MTC_IR_TILE_OPS

include "ir/MtcBase.td"

def TileOp : Mtc_Op<"tile", [Pure, Mtc_View, Mtc_StridedMovement, Mtc_NoGradient]> {
  let summary = "a run of a value's elements, where they lie";
  let description = [{
    The result's elements are the source's from number `offset` on, in row-major order.

    ```mlir
    %p = mtc.tile %x from 16 : tensor<4x8xf32> -> tensor<2x8xf32>
    ```

    * tile_c1: the run lies within the source; element types are equal.
    * tile_c2: it begins at a multiple of the arena's alignment, 64 bytes.
  }];
  let arguments = (ins Mtc_Tensor:$source, I64Attr:$offset);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$source `from` $offset attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def AssembleOp : Mtc_Op<"assemble", [Pure, Mtc_NoGradient]> {
  let summary = "tiles that lie one behind the other";
  let description = [{
    The result's elements are those of the first operand, then those of the next, in row-major order. Operands that are
    computed for it alone are computed where they lie in the result; others are copied there.

    ```mlir
    %x = mtc.assemble %p, %q : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    ```

    * assemble_c1: the operands have as many elements as the result, in all, of the same type.
    * assemble_c2: each operand begins at a multiple of the arena's alignment, 64 bytes.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$tiles);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$tiles attr-dict `:` type($tiles) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes from the start of the result at which a tile begins.
    int64_t getOffsetInBytes(unsigned tile);
  }];
}

#endif // MTC_IR_TILE_OPS
