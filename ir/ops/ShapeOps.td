//===- ShapeOps.td - Constants and data movement ------------------------------------------------===//

#ifndef MTC_IR_SHAPE_OPS
#define MTC_IR_SHAPE_OPS

include "ir/MtcBase.td"

def ConstantOp : Mtc_ValueOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>, Mtc_ZeroGradient, Mtc_Fusible]> {
  let summary = "a tensor known at compile time";
  let description = [{
    A splat is free: it becomes a scalar of the kernel that uses it. Other values are stored in the program and copied into the
    arena once.

    ```mlir
    %c = mtc.constant dense<0.5> : tensor<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def IotaOp : Mtc_ValueOp<"iota", [Mtc_ZeroGradient, Mtc_Fusible]> {
  let summary = "index of each element along an axis";
  let description = [{
    ```mlir
    %i = mtc.iota 1 : tensor<4x8xi64>
    ```

    * iota_c1: the axis is within the result's rank.
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Mtc_NumberTensor:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def BroadcastOp : Mtc_ValueOp<"broadcast", [Mtc_MovesElements, Mtc_Transposable, Mtc_Gradient, Mtc_Fusible, Mtc_StridedMovement]> {
  let summary = "broadcast a tensor along new axes";
  let description = [{
    `axes` are the axes of the result that the operand does not have, ascending. The cotangent is summed over them.

    ```mlir
    %b = mtc.broadcast %x axes [0, 2] : tensor<4xf32> -> tensor<8x4x16xf32>
    ```

    * broadcast_c1: axes ascend and are within the result's rank.
    * broadcast_c2: the result's extents without `axes` are the operand's.
  }];
  let arguments = (ins Mtc_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input `axes` $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ReshapeOp : Mtc_ValueOp<"reshape", [Mtc_MovesElements, Mtc_View, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "change the extents, keeping elements in row-major order";
  let description = [{
    ```mlir
    %r = mtc.reshape %x : tensor<4x6xf32> -> tensor<2x12xf32>
    ```

    * reshape_c1: operand and result have the same number of elements and the same element type.
  }];
  let arguments = (ins Mtc_Tensor:$input);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TransposeOp : Mtc_ValueOp<"transpose", [Mtc_MovesElements, Mtc_Gradient, Mtc_Fusible, Mtc_StridedMovement]> {
  let summary = "permute axes";
  let description = [{
    Axis i of the result is axis permutation[i] of the operand.

    ```mlir
    %t = mtc.transpose %x [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
    ```

    * transpose_c1: the permutation contains each axis once.
    * transpose_c2: extent i of the result is extent permutation[i] of the operand.
  }];
  let arguments = (ins Mtc_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SliceOp : Mtc_ValueOp<"slice", [Mtc_MovesElements, Mtc_Transposable, Mtc_Gradient, Mtc_Fusible, Mtc_StridedMovement]> {
  let summary = "extract a strided box of a tensor";
  let description = [{
    Element i along an axis is the operand's element offset + i * stride. The extents are the result's.

    ```mlir
    %s = mtc.slice %x offsets [0, 2] strides [1, 3] : tensor<4x12xf32> -> tensor<4x3xf32>
    ```

    * slice_c1: offsets are not negative, strides are positive; there is one of each for every axis.
    * slice_c2: the last element along each axis is within the operand.
  }];
  let arguments = (ins Mtc_Tensor:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input `offsets` $offsets `strides` $strides attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StridedViewOp : Mtc_Op<"strided_view", [Pure, Mtc_View, Mtc_StridedMovement, Mtc_NoGradient]> {
  let summary = "a strided view that a library call reads in place";
  let description = [{
    Element i of the result is element offset + sum of i[a] * strides[a] of the source's dense row-major memory. The view replaces
    data movement before a library call that the call performs while it reads the operand.

    ```mlir
    %v = mtc.strided_view %x offset 8 strides [96, 4, 24, 1] : tensor<2x4x24xf32> -> tensor<2x2x4x4xf32>
    ```

    * strided_view_c1: the offset and the strides are not negative; there is one stride for every axis.
    * strided_view_c2: the last element is within the source; element types are equal.
    * strided_view_c3: only library calls use the view.
  }];
  let arguments = (ins Mtc_Tensor:$source, I64Attr:$offset, DenseI64ArrayAttr:$strides);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$source `offset` $offset `strides` $strides attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def PadOp : Mtc_ValueOp<"pad", [Mtc_Transposable, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "pad a tensor around and between its elements";
  let description = [{
    Along an axis of extent n, the result has low + n + (n - 1) * interior + high elements. All elements are `value` except
    element i of the operand, at low + i * (interior + 1).

    ```mlir
    %p = mtc.pad %x low [1] high [2] interior [0] value 0.0 : f32 : tensor<4xf32> -> tensor<7xf32>
    ```

    * pad_c1: low, high and interior are not negative; there is one of each for every axis.
    * pad_c2: the result has the corresponding extents.
    * pad_c3: the value has the element type.
  }];
  let arguments = (ins Mtc_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior,
                       TypedAttrInterface:$value);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = [{
    $input `low` $low `high` $high `interior` $interior `value` $value attr-dict
      `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReverseOp : Mtc_ValueOp<"reverse", [Mtc_MovesElements, SameOperandsAndResultType, Mtc_Transposable, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "reverse the order of elements along axes";
  let description = [{
    ```mlir
    %r = mtc.reverse %x axes [0] : tensor<4x8xf32>
    ```

    * reverse_c1: axes ascend and are within the rank.
  }];
  let arguments = (ins Mtc_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input `axes` $axes attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ConcatenateOp : Mtc_ValueOp<"concatenate", [Mtc_MovesElements, Mtc_Transposable, Mtc_Gradient, Mtc_Fusible]> {
  let summary = "concatenate tensors along an axis";
  let description = [{
    ```mlir
    %c = mtc.concatenate %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
    ```

    * concatenate_c1: there is at least one operand, and all have the result's rank and element type.
    * concatenate_c2: the axis is within the rank.
    * concatenate_c3: other extents are equal; extents along the axis add up to the result's.
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // MTC_IR_SHAPE_OPS
