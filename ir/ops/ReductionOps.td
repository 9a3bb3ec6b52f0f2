//===- ReductionOps.td - Reductions, cumulative sums, top-k ------------------------------------===//

#ifndef MTC_IR_REDUCTION_OPS
#define MTC_IR_REDUCTION_OPS

include "ir/MtcBase.td"

def ReduceOp : Mtc_ValueOp<"reduce", [Mtc_Transposable, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "reduce a tensor along axes";
  let description = [{
    The result does not have the reduced axes. `max` and `min` propagate NaN; their cotangent is divided equally among the
    elements that attain the extremum, as in PyTorch's amax.

    ```mlir
    %s = mtc.reduce add %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```

    * reduce_c1: axes ascend and are within the operand's rank.
    * reduce_c2: the result has the operand's extents without the axes.
    * reduce_c3: `and` and `or` reduce i1; other kinds reduce numbers.
  }];
  let arguments = (ins Mtc_ReductionKindAttr:$kind, Mtc_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$kind $input `axes` $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
    ::mtc::Cost getCost();
  }];
}

def CumulativeSumOp : Mtc_ValueOp<"cumulative_sum", [SameOperandsAndResultType, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "cumulative sum along an axis";
  let description = [{
    With `exclusive`, the sum excludes the element itself; with `reverse`, it starts at the end of the axis.

    ```mlir
    %s = mtc.cumulative_sum %x axis 1 exclusive : tensor<4x8xf32>
    ```

    * cumulative_sum_c1: the axis is within the rank.
  }];
  let arguments = (ins Mtc_NumberTensor:$input, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Mtc_NumberTensor:$result);
  let assemblyFormat = "$input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
  let extraClassDeclaration = rangeSensitive;
}

def TopKOp : Mtc_ValueOp<"top_k", [Mtc_Gradient, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "the k largest or smallest elements of the last axis with indices";
  let description = [{
    The results are ordered. They are computed without sorting: the rank of an element is the number of elements that precede it.
    Equal elements keep their order; NaN counts as largest.

    ```mlir
    %v, %i = mtc.top_k %x : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
    ```

    * top_k_c1: the results have the operand's extents except the last, which is between 1 and the operand's.
  }];
  let arguments = (ins Mtc_NumberTensor:$input, UnitAttr:$smallest);
  let results = (outs Mtc_NumberTensor:$values, Mtc_IntegerTensor:$indices);
  let assemblyFormat = "$input (`smallest` $smallest^)? attr-dict `:` type($input) `->` type($values) `,` type($indices)";
  let hasVerifier = 1;
}

#endif // MTC_IR_REDUCTION_OPS
