//===- RandomOps.td - Random numbers -------------------------------------------------------===//

#ifndef MTC_IR_RANDOM_OPS
#define MTC_IR_RANDOM_OPS

include "ir/MtcBase.td"

def RandomBitsOp : Mtc_ValueOp<"random_bits", [Mtc_ZeroGradient, Mtc_Fusible]> {
  let summary = "32 random bits for each element";
  let description = [{
    The first word of Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011) with the key `seed`
    and the counter (element, stream, step), in which the step occupies two words. Re-execution within the same step yields the
    same bits. `stream` distinguishes the random operations of a program.

    With `part`, the result is that part of a tensor whose elements belong to `parts` parts in turn, in runs of `run` elements
    (`#mtc.axis_split`). The counter is the number of the element in the whole tensor, so that the parts of all ranks have the bits
    of the whole tensor.

    ```mlir
    %r = mtc.random_bits %seed, %step stream 3 : (tensor<i64>, tensor<i64>) -> tensor<4x8xi32>
    %p = mtc.random_bits %seed, %step stream 3 part %rank of 2 run 4 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
    ```

    * random_bits_c1: seed, step and part are tensor<i64>; the stream fits into 32 bits.
    * random_bits_c2: the result has 32-bit integers, and all parts together at most as many as 32 bits can number.
    * random_bits_c3: without a part, there is one; with it, the result consists of whole runs.
  }];
  let arguments = (ins Mtc_IntegerTensor:$seed, Mtc_IntegerTensor:$step, I64Attr:$stream,
                       Optional<Mtc_IntegerTensor>:$part, DefaultValuedAttr<I64Attr, "1">:$parts,
                       DefaultValuedAttr<I64Attr, "1">:$run);
  let results = (outs Mtc_IntegerTensor:$result);
  let assemblyFormat = [{
    $seed `,` $step `stream` $stream (`part` $part^ `of` $parts `run` $run)? attr-dict `:` functional-type(operands, $result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$seed, "::mlir::Value":$step, "uint64_t":$stream)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::Cost getCost();
  }];
}

#endif // MTC_IR_RANDOM_OPS
