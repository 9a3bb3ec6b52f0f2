//===- CollectiveOps.td - Exchange of values between the ranks of a program -----------------------===//
//
// Collectives move bytes and compute nothing. Kernels of the program add what they deliver, in a fixed order, so that results do not
// depend on the transport.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_COLLECTIVE_OPS
#define MTC_IR_COLLECTIVE_OPS

include "ir/MtcBase.td"

def Mtc_CollectiveKind : Mtc_Enum<"CollectiveKind", "data movement of a collective; values match the ABI",
  [I32EnumCase<"AllToAll", 0, "all_to_all">, I32EnumCase<"AllGather", 1, "all_gather">, I32EnumCase<"OwnPiece", 2, "own_piece">]>;

def Mtc_CollectiveAttr : Mtc_Attr<"Collective", "collective"> {
  let summary = "exchange of values between the ranks of a group";
  let description = [{
    The ranks of a program form groups of `ranks` ranks, whose numbers differ by `stride` (default: 1). Rank r has number
    r / stride mod ranks in its group. With 8 ranks, `ranks = 4` has the groups 0 1 2 3 and 4 5 6 7, and `ranks = 4 stride 2` has
    the groups 0 2 4 6 and 1 3 5 7. The groups of a program are independent of each other.

    Each of the values is a row-major tensor of `totals` elements, which is divided into one piece of `pieces` elements per rank of
    the group. The rank with number i in its group owns the elements from i times the piece to i + 1 times the piece that exist: the
    last pieces may be shorter, or empty.

    * `all_to_all`: every rank has the whole values, and sends each piece to its owner. The owner receives one piece from each
      rank of the group, including itself. The pieces of one rank are contiguous.
    * `all_gather`: every rank sends its own pieces to all ranks of the group, and receives the whole values.
    * `own_piece`: every rank copies its own pieces, and sends nothing.

    Elements of a received piece that do not exist are zeros.

    ```mlir
    #mtc.collective<all_to_all, ranks = 2, pieces = [64, 16], totals = [100, 10], element = f32>
    ```

    * collective_c1: there is at least one rank and one value, the stride is at least 1, pieces are not empty, and together they hold
      the values.
  }];
  let parameters = (ins "::mtc::CollectiveKind":$kind, "int64_t":$ranks, DefaultValuedParameter<"int64_t", "1">:$stride,
                        ArrayRefParameter<"int64_t">:$pieces,
                        ArrayRefParameter<"int64_t">:$totals, "::mlir::Type":$element);
  let assemblyFormat = [{
    `<` $kind `,` `ranks` `=` $ranks (`stride` $stride^)? `,` `pieces` `=` `[` $pieces `]` `,` `totals` `=` `[` $totals `]` `,` `element` `=` $element `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of bytes that a rank of the program sends to other ranks.
    int64_t getSentBytes(int64_t rank);
    /// Returns the maximum number of bytes that one rank sends.
    int64_t getMaximumSentBytes();
  }];
}

def Mtc_AxisSplitAttr : Mtc_Attr<"AxisSplit", "axis_split"> {
  let summary = "division of an axis of a variable among the ranks of a group";
  let description = [{
    The axis has `outer` times `parts` times n elements. Of each of the `outer` blocks, the rank with number i in its group of
    `parts` ranks (see `#mtc.collective`) has the n elements from i times n on. A weight of fused queries, keys and values is divided
    along the heads with `outer = 3`.

    Each block of a variable may be followed by `padding`, so that its extent is a multiple of `parts`: 50257 classes are divided between
    two ranks with one row of padding. Padding is 0, and is neither loaded nor saved. The axis then has `outer` times (`parts` times
    n - `padding`) elements.

    ```mlir
    #mtc.axis_split<axis = 1, outer = 3, parts = 4>
    #mtc.axis_split<axis = 0, parts = 2, padding = 1>
    ```

    * axis_split_c1: neither the axis nor the padding is negative, and the other numbers are at least 1.
  }];
  let parameters = (ins "int64_t":$axis, DefaultValuedParameter<"int64_t", "1">:$outer, "int64_t":$parts,
                        DefaultValuedParameter<"int64_t", "1">:$stride, DefaultValuedParameter<"int64_t", "0">:$padding);
  let builders = [AttrBuilder<(ins "int64_t":$axis, "int64_t":$outer, "int64_t":$parts, "int64_t":$stride), [{
    return $_get($_ctxt, axis, outer, parts, stride, /*padding=*/0);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the type of a rank's part of a tensor; null if the axis cannot be divided.
    ::mlir::RankedTensorType getPartOf(::mlir::RankedTensorType whole);
    /// Returns the number of consecutive elements of the tensor with its padding that one rank has.
    int64_t getRunOf(::mlir::RankedTensorType whole);
    /// Returns the number of elements of a block of the tensor, without its padding.
    int64_t getBlockOf(::mlir::RankedTensorType whole);
    /// Returns the type of the whole tensor with its padding.
    ::mlir::RankedTensorType getPadded(::mlir::RankedTensorType whole);
  }];
}

def Mtc_PartialAttr : Mtc_Attr<"Partial", "partial"> {
  let summary = "tensor encoding of a term of a reduction over ranks";
  let description = [{
    Each of the `ranks` ranks of a group, whose numbers differ by `stride` (see `#mtc.collective`), has `chunks` partial values of a
    whole value, of which this is the one with number `chunk`. The whole value is the reduction of the partial values of all ranks.

    ```mlir
    tensor<8x16xf32, #mtc.partial<add, ranks = 2, chunk = 1, chunks = 4>>
    ```

    No operation accepts partial operands, except for these, whose result is partial, too:

    * data movement, such as `mtc.reshape`, `mtc.transpose`, `mtc.slice` and `mtc.concatenate`;
    * with `add`: `mtc.add`, `mtc.sub`, `mtc.neg`, and `mtc.cast` to a float type that is not narrower.

    All their operands are partial values with the same encoding. `mtc.all_reduce` and `mtc.reduce_scatter` compute whole values.

    * partial_c1: the chunk is one of the chunks, and there is at least one rank with a stride of at least 1.
    * partial_c2: an operation has no partial operand unless it is one of those above, and a partial result only with partial operands.
    * partial_c3: the tensors of an operation with partial operands have the same encoding.
    * partial_c4: the terms of a sum are not rounded to a narrower type.
  }];
  let parameters = (ins "::mtc::ReductionKind":$kind, "int64_t":$ranks, DefaultValuedParameter<"int64_t", "1">:$stride,
                        DefaultValuedParameter<"int64_t", "0">:$chunk, DefaultValuedParameter<"int64_t", "1">:$chunks);
  let assemblyFormat = "`<` $kind `,` struct($ranks, $stride, $chunk, $chunks) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the encoding of the type of a partial value; null for other types.
    static PartialAttr of(::mlir::Type type);
    /// Returns the type without the encoding of partial values.
    static ::mlir::Type withoutPartial(::mlir::Type type);
    ::mtc::RankGroup getGroup() const { return {getRanks(), getStride()}; }
  }];
}

def PartialOp : Mtc_Op<"partial", [Pure, Mtc_NoGradient, Mtc_ConvertsPartial]> {
  let summary = "mark a value as a term of a reduction over ranks";
  let description = [{
    The result has the elements of the operand. Its type states that the whole value is a reduction of the values of all ranks, so
    that operations which need the whole value refuse it (see `#mtc.partial`).

    ```mlir
    %p = mtc.partial %a : tensor<8x16xf32> -> tensor<8x16xf32, #mtc.partial<add, ranks = 2>>
    ```

    * partial_value_c1: the operand is not partial, and the result is partial and has its shape and element type.
  }];
  let arguments = (ins Mtc_Tensor:$input);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def AllReduceOp : Mtc_Op<"all_reduce", [Pure, Mtc_NoGradient, Mtc_ConvertsPartial]> {
  let summary = "reduce partial values over ranks, on every rank";
  let description = [{
    The operands are the partial values of this rank's chunks, in their order. The partial values of all ranks are reduced in a
    balanced tree, in the order of ranks. `mtc-exchange-partials` lowers the operation to exchanges and kernels.

    ```mlir
    %y = mtc.all_reduce %p : tensor<8x16xf32, #mtc.partial<add, ranks = 2>> -> tensor<8x16xf32>
    ```

    * all_reduce_c1: there is one partial operand for each chunk, in ascending order. They differ in nothing else.
    * all_reduce_c2: the result is not partial, and has the shape and element type of the operands.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$terms);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$terms attr-dict `:` type($terms) `->` type($result)";
  let hasVerifier = 1;
}

def ReduceScatterOp : Mtc_Op<"reduce_scatter", [Pure, Mtc_NoGradient, Mtc_ConvertsPartial]> {
  let summary = "reduce partial values over ranks, each rank its part along an axis";
  let description = [{
    The result is this rank's part of the result of `mtc.all_reduce`.

    ```mlir
    %y = mtc.reduce_scatter %p along <axis = 0, parts = 2> : tensor<8x16xf32, #mtc.partial<add, ranks = 2>> -> tensor<4x16xf32>
    ```

    * reduce_scatter_c1: the operands are those of `mtc.all_reduce` (all_reduce_c1).
    * reduce_scatter_c2: the result is not partial, and is the part of the operands' shape along the axis, with their element type.
    * reduce_scatter_c3: the axis is divided among the ranks of the operands' group, and a rank's part consists of consecutive elements.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$terms, Mtc_AxisSplitAttr:$split);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$terms `along` $split attr-dict `:` type($terms) `->` type($result)";
  let hasVerifier = 1;
}

def Mtc_Collective : DeclareOpInterfaceMethods<CollectiveOpInterface>;

class Mtc_CollectiveOp<string mnemonic> : Mtc_Op<mnemonic, [MemoryEffects<[MemWrite]>, Mtc_NoGradient, Mtc_Collective]> {
  let hasVerifier = 1;
}

def AllToAllOp : Mtc_CollectiveOp<"all_to_all"> {
  let summary = "send each piece of values to the rank that owns it";
  let description = [{
    Row r of the result holds the pieces that rank r has sent, one after the other. The sum of the rows is the result of a
    reduce-scatter; `mtc-shard` adds the rows in the order of ranks.

    ```mlir
    %rows = mtc.all_to_all %a, %b pieces [32, 32] : tensor<8x8xf32>, tensor<36xf32> -> tensor<2x64xf32>
    ```

    `stride` is that of the group (see `#mtc.collective`), as in the other collectives.

    * all_to_all_c1: each operand has the element type of the result and a piece that can hold its elements (see
      `#mtc.collective`); the result has one row for each rank, with all pieces.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$values, DenseI64ArrayAttr:$pieces, DefaultValuedAttr<I64Attr, "1">:$stride);
  let results = (outs Mtc_Tensor:$rows);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$values, "::llvm::ArrayRef<int64_t>":$pieces, "::mtc::RankGroup":$group)>];
  let assemblyFormat = "$values `pieces` $pieces (`stride` $stride^)? attr-dict `:` type($values) `->` type($rows)";
}

def AllGatherOp : Mtc_CollectiveOp<"all_gather"> {
  let summary = "collect the pieces of values from the ranks that own them";
  let description = [{
    Each operand is the piece of this rank of the result of the same number.

    ```mlir
    %a, %b = mtc.all_gather %a_piece, %b_piece ranks 2 : tensor<32xf32>, tensor<32xf32> -> tensor<8x8xf32>, tensor<36xf32>
    ```

    * all_gather_c1: there is one result for each operand, with its element type, and the pieces hold its elements: see
      `#mtc.collective`.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$pieces, I64Attr:$ranks, DefaultValuedAttr<I64Attr, "1">:$stride);
  let results = (outs Variadic<Mtc_Tensor>:$values);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$types, "::mlir::ValueRange":$pieces, "::mtc::RankGroup":$group)>];
  let assemblyFormat = "$pieces `ranks` $ranks (`stride` $stride^)? attr-dict `:` type($pieces) `->` type($values)";
}

def OwnPieceOp : Mtc_CollectiveOp<"own_piece"> {
  let summary = "copy the pieces of values that this rank owns";
  let description = [{
    Each result is the piece of this rank of the operand of the same number. With `ranks 1`, it is the whole operand, followed by
    zeros.

    ```mlir
    %piece = mtc.own_piece %a ranks 2 : tensor<8x8xf32> -> tensor<32xf32>
    ```

    * own_piece_c1: there is one result for each operand, with its element type, and the pieces hold its elements: see
      `#mtc.collective`.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$values, I64Attr:$ranks, DefaultValuedAttr<I64Attr, "1">:$stride);
  let results = (outs Variadic<Mtc_Tensor>:$pieces);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$types, "::mlir::ValueRange":$values, "::mtc::RankGroup":$group)>];
  let assemblyFormat = "$values `ranks` $ranks (`stride` $stride^)? attr-dict `:` type($values) `->` type($pieces)";
}

def AverageOverRanksOp : Mtc_ValueOp<"average_over_ranks", [SameOperandsAndResultType, Mtc_Gradient]> {
  let summary = "average a value over the ranks of the data group";
  let description = [{
    Each element of the result is the sum of the elements of all ranks with different samples, in their order, divided by their
    number. Each of them computes the same result. `mtc-shard` lowers the operation to `mtc.all_gather` and additions.

    ```mlir
    %mean = mtc.average_over_ranks %own ranks 2 : tensor<64xf32>
    ```

    * average_over_ranks_c1: there is at least one rank.
  }];
  let arguments = (ins Mtc_FloatTensor:$input, I64Attr:$ranks);
  let results = (outs Mtc_FloatTensor:$result);
  let assemblyFormat = "$input `ranks` $ranks attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = rangeSensitive;
}

def ReshardOp : Mtc_Op<"reshard", [Pure, Mtc_NoGradient]> {
  let summary = "exchange parts along one axis for parts along another";
  let description = [{
    The operand is this rank's part of a value along the axis of `from`, and the result is its part along the axis of `to`. Ranks that
    have different parts of sequences compute attention with different heads of whole sequences. `mtc-exchange-partials` lowers the
    operation to `mtc.all_to_all` and transpositions.

    ```mlir
    %y = mtc.reshard %x from <axis = 2, parts = 4> to <axis = 1, parts = 4> : tensor<8x16x32x64xf32> -> tensor<8x4x128x64xf32>
    ```

    * reshard_c1: both splits have the same number of parts and the same stride, and different axes.
    * reshard_c2: operand and result are parts of tensors of one type.
  }];
  let arguments = (ins Mtc_Tensor:$input, Mtc_AxisSplitAttr:$from, Mtc_AxisSplitAttr:$to);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // MTC_IR_COLLECTIVE_OPS
