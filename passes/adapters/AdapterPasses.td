//===- AdapterPasses.td - Adapters and quantization of frozen weights -------------------------===//

#ifndef MTC_PASSES_ADAPTERS_PASSES
#define MTC_PASSES_ADAPTERS_PASSES

include "mlir/Pass/PassBase.td"

def AddAdapters : Pass<"mtc-add-adapters", "::mlir::ModuleOp"> {
  let summary = "add low-rank adapters to contractions with frozen weights";
  let description = [{
    For each weight that matches a pattern of the program's `lora` attribute, every contraction with the weight in `@forward`
    becomes `x W + alpha / rank * (x A) B` (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021), and an
    `mtc.adapter` records the adapter in the program. A and B are parameters, named, shaped and initialized as in PEFT: A is
    [rank, in] and uniformly distributed within ±1 / sqrt(in), which is kaiming_uniform_ with a = sqrt(5); B is [out, rank] and
    zero. If several patterns match, the pattern with the most literal characters applies; among equals, the last.

    The setting `rslora` replaces `alpha / rank` by `alpha / sqrt(rank)`. `dropout=p` drops elements of the x of A in training.
    `dora` rescales the result to trained norms, which start as those of W: `m / n * (x W + alpha / rank * (x A) B)`, where n are
    the norms of `W + alpha / rank * A B` over the input axis, constant for gradients (Liu et al., "DoRA: Weight-Decomposed
    Low-Rank Adaptation", 2024).

    A weight can be adapted if it is a frozen matrix and its only users are contractions over one of its axes, directly or
    through transposes. Other matching parameters are skipped with a remark, and weights of convolutions with a warning. A
    pattern that adapts no weight is an error.

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
    The option `frozen-bits` (`FrozenStorageOptions` in `passes/adapters/FrozenStorage.h`) selects the storage: 16 stores frozen
    f32 matrices in bf16, and users other than contractions read them through a cast to f32; 4 stores the matrices whose only
    users in every function are contractions in blocks of 64 NF4 codes with one scale each, and the others, such as embeddings,
    in bf16. As in bitsandbytes for a linear
    layer's weight [out, in], blocks run along the axis that the forward pass contracts.

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
