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
  [I32EnumCase<"AllToAll", 0, "all_to_all">, I32EnumCase<"AllGather", 1, "all_gather">]>;

def Mtc_CollectiveAttr : Mtc_Attr<"Collective", "collective"> {
  let summary = "exchange of a flat tensor between ranks";
  let description = [{
    The `total` elements of the flat tensor are divided into one piece per rank. Rank r owns the elements from r * `piece` to
    (r + 1) * `piece` that exist: the last pieces may be shorter, or empty.

    * `all_to_all`: every rank has a whole flat tensor, and sends each piece to its owner. The owner receives one piece from each
      rank, including itself, in the order of ranks. Elements of a received row that do not exist are zeros.
    * `all_gather`: every rank sends its own piece to all ranks, and receives the whole flat tensor.

    ```mlir
    #mtc.collective<all_to_all, ranks = 2, piece = 64, total = 100, element = f32>
    ```

    * collective_c1: there is at least one rank, pieces are not empty, and together they hold the flat tensor.
  }];
  let parameters = (ins "::mtc::CollectiveKind":$kind, "int64_t":$ranks, "int64_t":$piece, "int64_t":$total, "::mlir::Type":$element);
  let assemblyFormat = "`<` $kind `,` struct($ranks, $piece, $total, $element) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of bytes that a rank sends to other ranks.
    int64_t getSentBytes(int64_t rank);
    /// Returns the number of bytes that all ranks send to other ranks.
    int64_t getTraffic();
    /// Returns the maximum number of bytes that one rank sends.
    int64_t getMaximumSentBytes();
  }];
}

def Mtc_Collective : DeclareOpInterfaceMethods<CollectiveOpInterface>;

def AllToAllOp : Mtc_Op<"all_to_all", [MemoryEffects<[MemWrite]>, Mtc_NoGradient, Mtc_Collective]> {
  let summary = "send each piece of a flat tensor to the rank that owns it";
  let description = [{
    The flat tensor is the concatenation of the operands' elements. Row r of the result is the piece that rank r has sent. The sum
    of the rows is the result of a reduce-scatter; `mtc-shard` adds the rows in the order of ranks.

    ```mlir
    %pieces = mtc.all_to_all %a, %b : tensor<8x8xf32>, tensor<36xf32> -> tensor<2x64xf32>
    ```

    * all_to_all_c1: the operands have the result's element type, and the result can hold their elements: see `#mtc.collective`.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$values);
  let results = (outs Mtc_Tensor:$pieces);
  let assemblyFormat = "$values attr-dict `:` type($values) `->` type($pieces)";
  let hasVerifier = 1;
}

def AllGatherOp : Mtc_Op<"all_gather", [MemoryEffects<[MemWrite]>, Mtc_NoGradient, Mtc_Collective]> {
  let summary = "collect the pieces of a flat tensor from the ranks that own them";
  let description = [{
    The operand is the piece of this rank. The flat tensor is the concatenation of the results' elements.

    ```mlir
    %a, %b = mtc.all_gather %piece ranks 2 : tensor<64xf32> -> tensor<8x8xf32>, tensor<36xf32>
    ```

    * all_gather_c1: the results have the operand's element type, and the pieces can hold their elements: see `#mtc.collective`.
  }];
  let arguments = (ins Mtc_Tensor:$piece, I64Attr:$ranks);
  let results = (outs Variadic<Mtc_Tensor>:$values);
  let assemblyFormat = "$piece `ranks` $ranks attr-dict `:` type($piece) `->` type($values)";
  let hasVerifier = 1;
}

#endif // MTC_IR_COLLECTIVE_OPS
