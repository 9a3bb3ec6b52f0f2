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

def AddRowsOp : Mtc_ValueOp<"add_rows", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "add the rows of a matrix to a tensor, in order";
  let description = [{
    The result is `onto` plus row 0, plus row 1 and so on: unlike those of `mtc.reduce`, the additions have this order and are
    rounded one by one. Without `onto`, the sum starts as row 0. With `decay`, the sum is multiplied by `decay` before each addition.
    The elements of a row that are added are those from `column` on.

    ```mlir
    %s = mtc.add_rows %rows onto %sum : tensor<8x8xf32> : tensor<512x64xf32> -> tensor<8x8xf32>
    %t = mtc.add_rows %rows from 60 onto %mean : tensor<4xf32> decay 5.000000e-01 : f32 : tensor<512x64xf32> -> tensor<4xf32>
    ```

    * add_rows_c1: the rows are a matrix with at least one row, and at least `column` columns more than the result has elements.
    * add_rows_c2: the rows, the result, `onto` and `decay` have one element type; `onto` has the type of the result.
  }];
  let arguments = (ins Mtc_FloatTensor:$rows, Optional<Mtc_FloatTensor>:$onto, DefaultValuedAttr<I64Attr, "0">:$column,
                       OptionalAttr<Mtc_FloatAttr>:$decay);
  let results = (outs Mtc_FloatTensor:$result);
  let assemblyFormat = [{
    $rows (`from` $column^)? (`onto` $onto^ `:` type($onto))? (`decay` $decay^)? attr-dict `:` type($rows) `->` type($result)
  }];
  let hasVerifier = 1;
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
