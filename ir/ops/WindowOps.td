//===- WindowOps.td - Sliding windows and their adjoint -----------------------------------------===//

#ifndef MTC_IR_WINDOW_OPS
#define MTC_IR_WINDOW_OPS

include "ir/MtcBase.td"

def WindowsOp : Mtc_ValueOp<"windows", [Mtc_Transposable, Mtc_Gradient, Mtc_Fusible, Mtc_StridedMovement]> {
  let summary = "extract sliding windows along axes (unfold)";
  let description = [{
    Each of `axes` becomes the window position o. The window's taps k become a new axis after the existing ones, in the order of
    `axes`:

        y[.., o, .., k] = x[.., o * stride + k * dilation, ..]

    The extents are the result's. An `mtc.pad` before this operation creates windows that extend beyond the border. A convolution
    is a contraction of the taps, and pooling is a reduction over them.

    ```mlir
    %w = mtc.windows %x axes [2, 3] strides [2, 2] dilations [1, 1]
           : tensor<8x3x32x32xf32> -> tensor<8x3x15x15x3x3xf32>
    ```

    * windows_c1: axes ascend and are within the operand's rank; strides and dilations are positive, with one of each for every
      axis.
    * windows_c2: the result has the operand's extents on the other axes, and an additional axis for each of `axes`.
    * windows_c3: the last tap of the last window is within the operand.
  }];
  let arguments = (ins Mtc_Tensor:$input, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = [{
    $input `axes` $axes `strides` $strides `dilations` $dilations attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def OverlapAddOp : Mtc_ValueOp<"overlap_add", [Mtc_Gradient, Mtc_Fusible]> {
  let summary = "sum overlapping windows (fold)";
  let description = [{
    The adjoint of `mtc.windows`: each of `axes` of the operand is the window position o, and its taps k are an axis after the
    others.

        x[.., i, ..] = sum of y[.., o, .., k] over all o, k with o * stride + k * dilation = offset + i

    Sums outside the offset and the result's extent are discarded; elements that no window covers are zero.

    ```mlir
    %x = mtc.overlap_add %y axes [2, 3] offsets [1, 1] strides [2, 2] dilations [1, 1]
           : tensor<8x3x15x15x3x3xf32> -> tensor<8x3x30x30xf32>
    ```

    * overlap_add_c1: axes ascend and are within the result's rank; strides and dilations are positive, offsets are not negative,
      with one of each for every axis.
    * overlap_add_c2: the operand has the result's extents on the other axes, and an additional axis for each of `axes`.
    * overlap_add_c3: the positions of all taps, and of the result's elements, fit into 64 bits.
  }];
  let arguments = (ins Mtc_NumberTensor:$input, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
  let results = (outs Mtc_NumberTensor:$result);
  let assemblyFormat = [{
    $input `axes` $axes `offsets` $offsets `strides` $strides `dilations` $dilations attr-dict
      `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
    ::mtc::Cost getCost();
  }];
}

#endif // MTC_IR_WINDOW_OPS
