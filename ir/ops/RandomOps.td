//===- RandomOps.td - Random numbers -------------------------------------------------------===//

#ifndef MTC_IR_RANDOM_OPS
#define MTC_IR_RANDOM_OPS

include "ir/MtcBase.td"

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

#endif // MTC_IR_RANDOM_OPS
