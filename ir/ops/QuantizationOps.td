//===- QuantizationOps.td - Blockwise quantization ----------------------------------------------===//

#ifndef MTC_IR_QUANTIZATION_OPS
#define MTC_IR_QUANTIZATION_OPS

include "ir/MtcBase.td"

def Mtc_QuantizationMap : Mtc_Enum<"QuantizationMap",
  "blockwise quantization map (`ir/attributes/QuantizationTable.h`)",
  [I32EnumCase<"Dynamic8", 0, "dynamic8">, I32EnumCase<"UnsignedDynamic8", 1, "unsigned_dynamic8">,
   I32EnumCase<"Dynamic4", 2, "dynamic4">, I32EnumCase<"UnsignedLinear4", 3, "unsigned_linear4">]>;
def Mtc_QuantizationMapAttr : Mtc_EnumAttr<Mtc_QuantizationMap, "quantization"> { let assemblyFormat = "`<` $value `>`"; }

def Mtc_Codes : TensorRankOf<[UI8], [1, 2]> { let summary = "flat tensor of ui8 codes, or a row of them for each block"; }
def Mtc_Scales : 1DTensorOf<[F32]>;

def DequantizeBlocksOp : Mtc_ValueOp<"dequantize_blocks", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "dequantize codes with a scale for each block";
  let description = [{
    An element is the value of its code times the scale of its block. The map determines the block size; blocks start at the first
    element, and the last one may be shorter.

    ```mlir
    %x = mtc.dequantize_blocks %codes, %scales by <dynamic8> : tensor<600xui8>, tensor<3xf32> -> tensor<600xf32>
    ```

    * quantize_c1: there is one code for each element, and one scale for each block.
  }];
  let arguments = (ins Mtc_Codes:$codes, Mtc_Scales:$scales, Mtc_QuantizationMapAttr:$map);
  let results = (outs Mtc_Scales:$result);
  let assemblyFormat = [{
    $codes `,` $scales `by` $map attr-dict `:` type($codes) `,` type($scales) `->` type($result)
  }];
  let hasVerifier = 1;
}

def QuantizeBlocksOp : Mtc_ValueOp<"quantize_blocks", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "quantize elements to codes with a scale for each block";
  let description = [{
    The scale of a block is the largest magnitude in it. A code is the one nearest to the element divided by the scale. The map
    determines how ties are broken, and how a block of zeros is encoded. Elements are finite.

    ```mlir
    %codes, %scales = mtc.quantize_blocks %x by <dynamic8> : tensor<600xf32> -> tensor<600xui8>, tensor<3xf32>
    ```

    * quantize_c1: there is one code for each element, and one scale for each block.
  }];
  let arguments = (ins Mtc_Scales:$input, Mtc_QuantizationMapAttr:$map);
  let results = (outs Mtc_Codes:$codes, Mtc_Scales:$scales);
  let assemblyFormat = "$input `by` $map attr-dict `:` type($input) `->` type($codes) `,` type($scales)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
  }];
}

def PackCodesOp : Mtc_ValueOp<"pack_codes", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "pack 4-bit codes, two in a byte";
  let description = [{
    In each block of the map's length, byte i has code i in its upper four bits and code i + length / 2 in its lower four bits, so
    that codes adjacent in memory are adjacent in a vector.

    ```mlir
    %bytes = mtc.pack_codes %codes by <dynamic4> : tensor<256xui8> -> tensor<128xui8>
    ```

    * pack_c1: the map has four bits; blocks are complete, and there is one byte for two codes.
  }];
  let arguments = (ins Mtc_Codes:$codes, Mtc_QuantizationMapAttr:$map);
  let results = (outs Mtc_Codes:$bytes);
  let assemblyFormat = "$codes `by` $map attr-dict `:` type($codes) `->` type($bytes)";
  let hasVerifier = 1;
}

def UnpackCodesOp : Mtc_ValueOp<"unpack_codes", [Mtc_NoGradient, Mtc_Fusible]> {
  let summary = "unpack 4-bit codes";
  let description = [{
    The inverse of `mtc.pack_codes`.

    ```mlir
    %codes = mtc.unpack_codes %bytes by <dynamic4> : tensor<128xui8> -> tensor<256xui8>
    ```

    * pack_c1: see `mtc.pack_codes`.
  }];
  let arguments = (ins Mtc_Codes:$bytes, Mtc_QuantizationMapAttr:$map);
  let results = (outs Mtc_Codes:$codes);
  let assemblyFormat = "$bytes `by` $map attr-dict `:` type($bytes) `->` type($codes)";
  let hasVerifier = 1;
}

#endif // MTC_IR_QUANTIZATION_OPS
