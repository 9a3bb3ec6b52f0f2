//===- ConvolutionOps.td - Convolution and its adjoints -----------------------------------------===//

#ifndef MTC_IR_CONVOLUTION_OPS
#define MTC_IR_CONVOLUTION_OPS

include "ir/MtcBase.td"

// The three operations compute each of input, weights and output from the other two by one trilinear form, so each is the
// gradient of the others.
class Mtc_ConvolutionOp<string mnemonic, string first, string second, string result, list<Trait> traits = []>
    : Mtc_ValueOp<mnemonic, !listconcat([
        Mtc_ChannelsLast, Mtc_Gradient, DeclareOpInterfaceMethods<LibraryCallOpInterface>, DeclareOpInterfaceMethods<DecomposableOpInterface>],
        traits)> {
  let arguments = !con(!dag(ins, [Mtc_FloatTensor, Mtc_FloatTensor], [first, second]),
                       (ins DefaultValuedAttr<I64Attr, "1">:$groups, DenseI64ArrayAttr:$before,
                            DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations));
  let results = !dag(outs, [Mtc_FloatTensor], [result]);
  let assemblyFormat = "$" # first # " `,` $" # second # [{
    (`groups` $groups^)? `before` $before `strides` $strides `dilations` $dilations
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    ::mtc::Cost getCost();
  }];
}

def ConvolveOp : Mtc_ConvolutionOp<"convolve", "input", "weights", "output",
                                   [DeclareOpInterfaceMethods<EpilogueOpInterface>]> {
  let summary = "a convolution over channels-last tensors";
  let description = [{
    Over positions o and taps k along each of 1 to 3 axes, channels c and m of each group g:

        output[n, o.., g, m] = sum over k.., c of
          input[n, o * stride + k * dilation - before.., g, c] * weights[g, m, c, k..]

    where input elements outside the extents are 0. The channel axis spans all groups, as does the first axis of the weights. The
    padding after the input follows from the output's extents.

    ```mlir
    %y = mtc.convolve %x, %w before [1, 1] strides [2, 2] dilations [1, 1]
           : (tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
    ```

    * convolve_c1: input is [N, I.., G * C], weights [G * M, C, K..], output [N, O.., G * M], with 1 to 3 window axes, and one
      value of before, strides and dilations for each.
    * convolve_c2: strides, dilations and groups are positive; before is not negative.
    * convolve_c3: the position of the last tap of the last window fits into 64 bits.
    * convolve_c4: element types are equal, except that the result may be f32 if the operands are narrower: the unrounded f32
      accumulators.
  }];
  let hasCanonicalizer = 1;
}

def TransposedConvolveOp : Mtc_ConvolutionOp<"transposed_convolve", "output", "weights", "input"> {
  let summary = "transposed convolution: the input gradient of a convolution";
  let description = [{
    Each element of the output adds a window of weights to the input elements that `mtc.convolve` reads for it:

        input[n, i.., g, c] = sum over o.., k.., m with o * stride + k * dilation - before = i of
          output[n, o.., g, m] * weights[g, m, c, k..]

    ```mlir
    %x = mtc.transposed_convolve %y, %w before [1, 1] strides [2, 2] dilations [1, 1]
           : (tensor<8x16x16x16xf32>, tensor<16x3x3x3xf32>) -> tensor<8x32x32x3xf32>
    ```

    * convolve_c1 to convolve_c4: see `mtc.convolve`.
  }];
  let hasCanonicalizer = 1;
}

def ConvolveWeightGradientOp : Mtc_ConvolutionOp<"convolve_weight_gradient", "input", "output", "weights"> {
  let summary = "the weight gradient of a convolution";
  let description = [{
        weights[g, m, c, k..] = sum over n, o.. of
          input[n, o * stride + k * dilation - before.., g, c] * output[n, o.., g, m]

    ```mlir
    %w = mtc.convolve_weight_gradient %x, %y before [1, 1] strides [2, 2] dilations [1, 1]
           : (tensor<8x32x32x3xf32>, tensor<8x16x16x16xf32>) -> tensor<16x3x3x3xf32>
    ```

    * convolve_c1 to convolve_c4: see `mtc.convolve`.
  }];
}

def FusedConvolveOp : Mtc_ValueOp<"fused_convolve", [
    Mtc_NoGradient, AttrSizedOperandSegments, DeclareOpInterfaceMethods<EpilogueOpInterface>,
    DeclareOpInterfaceMethods<LibraryCallOpInterface>]> {
  let summary = "a convolution with an epilogue";
  let description = [{
    Adds a bias (a strided view that broadcasts one value per channel) and an addend to the sums of `mtc.convolve`. With z as the
    total, `relu` returns z where z > 0, NaN where z is NaN and 0 elsewhere; without an activation the result is z.
    `mtc-fuse-epilogues` and `mtc-fuse-activations` create this operation.

    ```mlir
    %y = mtc.fused_convolve %x, %w bias %b : tensor<8x16x16x16xf32> then relu before [1, 1] strides [2, 2] dilations [1, 1]
           : tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32> -> tensor<8x16x16x16xf32>
    ```

    * convolve_c1 to convolve_c4: see `mtc.convolve`.
    * fused_convolve_c1: there is a bias, an addend or an activation; bias and addend have the result's extents, and the operands'
      element type, or f32 with narrower operands; the activation is relu.
  }];
  let arguments = (ins Mtc_FloatTensor:$input, Mtc_FloatTensor:$weights, Optional<Mtc_FloatTensor>:$bias,
                       Optional<Mtc_FloatTensor>:$addend, OptionalAttr<Mtc_ActivationAttr>:$activation,
                       DefaultValuedAttr<I64Attr, "1">:$groups, DenseI64ArrayAttr:$before, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs Mtc_FloatTensor:$output);
  let assemblyFormat = [{
    $input `,` $weights (`bias` $bias^ `:` type($bias))? (`adding` $addend^ `:` type($addend))? (`then` $activation^)?
      (`groups` $groups^)? `before` $before `strides` $strides `dilations` $dilations
      attr-dict `:` type($input) `,` type($weights) `->` type($output)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    ::mtc::Cost getCost();
  }];
}

#endif // MTC_IR_CONVOLUTION_OPS
