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

    ```mlir
    %r = mtc.random_bits %seed, %step stream 3 : (tensor<i64>, tensor<i64>) -> tensor<4x8xi32>
    ```

    * random_bits_c1: seed and step are tensor<i64>; the stream fits into 32 bits.
    * random_bits_c2: the result has 32-bit integers, and at most as many as 32 bits can number.
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
