//===- Calls.td - Attributes that describe library calls ----------------------------------------===//
//
// The attribute of each kind of call holds the corresponding record of the program ABI: see ir/calls/CallRecord.h.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_CALLS
#define MTC_IR_CALLS

include "ir/MtcBase.td"

def Mtc_CallAttr : Attr<CPred<"::llvm::isa<::mtc::CallAttrInterface>($_self)">, "description of a library call"> {
  let storageType = "::mtc::CallAttrInterface";
  let returnType = "::mtc::CallAttrInterface";
  let convertFromStorage = "$_self";
}

// `record` is the struct of the ABI, and `kind` the name of the kind in the ABI.
class Mtc_Call<string name, string mnemonic, string record, string kind, list<string> overridden = []>
    : Mtc_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<CallAttrInterface, overridden>]> {
  // Passed by reference: the referenced record lives as long as the context.
  let parameters = (ins AttrParameter<"::mtc::CallRecord<" # record # ">", "the call",
                                      "const ::mtc::CallRecord<" # record # "> &">:$record);
  let assemblyFormat = "`<` $record `>`";
  let genVerifyDecl = 1;
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getKind() const { return }] # kind # [{; }
    ::llvm::StringRef $cppClass::getBytes() const { return getImpl()->record.getBytes(); }
  }];
}

def ContractionCallAttr
    : Mtc_Call<"ContractionCall", "contraction", "MtcContraction", "MTC_CONTRACTION", ["withAlgorithm"]> {
  let summary = "a contraction with epilogue: `MtcContraction` of the program ABI";
  let description = [{
    ```mlir
    #mtc.contraction<type = f32, m = 4, n = 2, k = 8, lhs_strides = [8, 1], rhs_strides = [2, 1], out_strides = [2, 1]>
    ```

    * contraction_call_c1: the batch has at most MTC_MAX_RANK - 2 axes, and there are at most MTC_MAX_ADDENDS addends.
    * contraction_call_c2: a batch excludes sums; only gelu has an auxiliary result.
    * contraction_call_c3: `type` is the type of lhs and, where others are not given, of the other operands and the results.
      `rhs_type` differs only among floats of 8 bits; `out_type`, `addend_types` and `product_type` may be wider if the operands
      are floats narrower than f32.
    * contraction_call_c4: a compressed operand has a known storage format, and requires no batch and a `type` of 16 or 32 bits.
    * contraction_call_c5: an `algorithm` excludes a batch, an activation, sums and compressed operands, and is not `winograd`.
    * contraction_call_c6: extents and strides are at least 0, and 64 bits can address all elements.
    * contraction_call_c7: only floats of 8 bits have a scale.
  }];
}

class Mtc_ConvolutionCall<string name, string mnemonic, string kind>
    : Mtc_Call<name, mnemonic, "MtcConvolution", kind, ["withAlgorithm"]> {
  let description = [{
    * convolution_call_c1: windows slide along 1 to MTC_MAX_WINDOW_AXES axes.
    * convolution_call_c2: the activation, if there is one, is relu.
    * convolution_call_c3: the adjoints have neither a bias nor an addend nor an activation.
    * convolution_call_c4: `result_type`, `bias_type`, `addend_type` and `product_type` may be wider than `type` if that is a
      float narrower than f32.
    * convolution_call_c5: an `algorithm` is `own_panels` or `winograd`; `winograd` requires f32, one group, no activation,
      and 3x3 windows with stride and dilation 1.
    * convolution_call_c6: strides and dilations are positive, extents and padding at least 0, and 64 bits can address all elements.
  }];
}
def ConvolutionCallAttr : Mtc_ConvolutionCall<"ConvolutionCall", "convolution", "MTC_CONVOLUTION"> {
  let summary = "a convolution: `MtcConvolution` of the program ABI";
}
def TransposedConvolutionCallAttr
    : Mtc_ConvolutionCall<"TransposedConvolutionCall", "transposed_convolution", "MTC_TRANSPOSED_CONVOLUTION"> {
  let summary = "input gradient of a convolution: `MtcConvolution` of the ABI";
}
def ConvolutionWeightGradientCallAttr
    : Mtc_ConvolutionCall<"ConvolutionWeightGradientCall", "convolution_weight_gradient",
                          "MTC_CONVOLUTION_WEIGHT_GRADIENT"> {
  let summary = "weight gradient of a convolution: `MtcConvolution` of the ABI";
}

class Mtc_AttentionCall<string name, string mnemonic, string kind>
    : Mtc_Call<name, mnemonic, "MtcAttention", kind> {
  let description = [{
    * attention_call_c1: the number of key heads divides the number of query heads.
    * attention_call_c2: extents and strides are at least 0, and 64 bits can address all elements.
  }];
}
def AttentionCallAttr : Mtc_AttentionCall<"AttentionCall", "attention", "MTC_ATTENTION"> {
  let summary = "attention: `MtcAttention` of the program ABI";
}
def AttentionGradientCallAttr
    : Mtc_AttentionCall<"AttentionGradientCall", "attention_gradient", "MTC_ATTENTION_GRADIENT"> {
  let summary = "the gradient of attention: `MtcAttention` of the program ABI";
}

class Mtc_RecurrenceCall<string name, string mnemonic, string kind>
    : Mtc_Call<name, mnemonic, "MtcRecurrence", kind> {
  let description = [{
    * recurrence_call_c1: there is at least one step, and only the gradient of an lstm has d_auxiliary.
    * recurrence_call_c2: extents are at least 0, and 64 bits can address all elements.
  }];
}
def RecurrenceCallAttr : Mtc_RecurrenceCall<"RecurrenceCall", "recurrence", "MTC_RECURRENCE"> {
  let summary = "a recurrent layer: `MtcRecurrence` of the program ABI";
}
def RecurrenceGradientCallAttr
    : Mtc_RecurrenceCall<"RecurrenceGradientCall", "recurrence_gradient", "MTC_RECURRENCE_GRADIENT"> {
  let summary = "the gradient of a recurrent layer: `MtcRecurrence` of the program ABI";
}

#endif // MTC_IR_CALLS
