//===- AdapterPasses.td - Small trained parts of frozen weights --------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_PASSES
#define MTC_PASSES_ADAPTERS_PASSES

include "mlir/Pass/PassBase.td"

def AddAdapters : Pass<"mtc-add-adapters", "::mlir::ModuleOp"> {
  let summary = "add low-rank adapters to contractions with frozen weights";
  let description = [{
    For each weight that a pattern of the program's `lora` matches, every contraction by it in `@forward` becomes
    `x W + alpha / rank * (x A) B` (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021), and an
    `mtc.adapter` says so of the program. A and B are parameters, named, shaped and initialized as PEFT does: A is [rank, in]
    and evenly distributed within 1 / sqrt(in), which is kaiming_uniform_ with a = sqrt(5); B is [out, rank] and zero. Where several
    patterns match, the one with more literal characters decides, among equals the last.

    A weight is a frozen matrix that contractions alone read, by one of its axes, transposed or not. Others that a pattern
    matches are passed over, with a remark; those of convolutions with a warning. A pattern that adapts nothing is an error.

    ```mlir
    mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["fc.*:rank=2"]> {}
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x64xf32>, tensor<10x64xf32> -> tensor<8x10xf32>
    // becomes:
    mtc.variable parameter @fc.lora_A.weight : tensor<2x64xf32> = #mtc.uniform<1.250000e-01 : f64>
    mtc.variable parameter @fc.lora_B.weight : tensor<10x2xf32> = #mtc.zeros
    mtc.adapter @fc.weight axis 1 down @fc.lora_A.weight up @fc.lora_B.weight alpha 8.000000e+00
    %h = mtc.contract %x, %a batch [] x [] over [1] x [1] : tensor<8x64xf32>, tensor<2x64xf32> -> tensor<8x2xf32>
    %s = mtc.mul %h, %4 : tensor<8x2xf32>
    %d = mtc.contract %s, %b batch [] x [] over [1] x [1] : tensor<8x2xf32>, tensor<10x2xf32> -> tensor<8x10xf32>
    %z = mtc.add %y, %d : tensor<8x10xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def StoreFrozen : Pass<"mtc-store-frozen", "::mlir::ModuleOp"> {
  let summary = "quantize frozen matrices";
  let description = [{
    Its option is `frozen-bits` (`FrozenStorageOptions` in `passes/adapters/FrozenStorage.h`): 16 stores frozen matrices of f32 in
    bf16, and what is no contraction reads them widened; 4 stores those that contractions alone read, in every function, in blocks
    of 64 NF4 codes and a scale. As bitsandbytes does for a layer's weight [out, in], blocks run along the axis that the
    forward pass sums over.

    ```mlir
    mtc.variable frozen @w : tensor<64x10xf32> = #mtc.initializer<"w">
    %w = mtc.read @w : tensor<64x10xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x10xf32> -> tensor<8x10xf32>
    // becomes, with frozen-bits=4:
    mtc.variable frozen @w : tensor<360xui8> = #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"w">, transposed>
    %w = mtc.read @w : tensor<360xui8>
    %y = mtc.stored_contract %x, %w over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_ADAPTERS_PASSES
