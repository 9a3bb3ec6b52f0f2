//===- Passes.td - Conversion of the onnx dialect to mtc --------------------------------------===//

#ifndef MTC_FRONTEND_CONVERT_PASSES
#define MTC_FRONTEND_CONVERT_PASSES

include "mlir/Pass/PassBase.td"

def ConvertOnnxToMtcPass : Pass<"convert-onnx-to-mtc", "::mlir::ModuleOp"> {
  let summary = "convert graph @main to function @forward over variables";
  let description = [{
    Requires inferred types and folded shape arithmetic (`onnx-infer-and-fold`). The registered definition of a node's operator
    and version emits operations of the mtc dialect with the node's location: broadcasts become explicit, and composite
    operators are decomposed. Initializers become variables according to their role, each with a single read at its first use. A
    constant whose elements are equal along some axes is stored without these axes and broadcast.

    Dropout and BatchNormalization in training form are converted to both their training and their inference form and an
    `mtc.select_by_mode` of the two. The option `batch-norm` overrides the form of every BatchNormalization node.

    If nodes cannot be converted, the pass reports each of them with operator, version, name and reason, then fails and leaves
    the module unchanged. If only outputs with `onnx.optional` depend on such a node, the pass removes these outputs instead.

    ```mlir
    // before
    onnx.graph @main(%x: tensor<8x64xf32> {onnx.name = "x"}) -> (tensor<8x10xf32> {onnx.name = "y"}) {
      %w = onnx.initializer "fc.weight" {role = "parameter"} : tensor<10x64xf32>
      %y = onnx.node "Gemm" version 13 (%x, %w) {transB = 1 : si64}
             : (tensor<8x64xf32>, tensor<10x64xf32>) -> tensor<8x10xf32>
      onnx.return %y : tensor<8x10xf32>
    }

    // after
    mtc.variable parameter @fc.weight : tensor<10x64xf32> = #mtc.initializer<"fc.weight">
    func.func @forward(%x: tensor<8x64xf32> {mtc.name = "x"}) -> (tensor<8x10xf32> {mtc.name = "y"}) {
      %w = mtc.read @fc.weight : tensor<10x64xf32>
      %y = mtc.contract %x, %w batch [] x [] over [1] x [1]
             : tensor<8x64xf32>, tensor<10x64xf32> -> tensor<8x10xf32>
      return %y : tensor<8x10xf32>
    }
    ```
  }];
  let options = [
    Option<"attentionInParts", "attention-in-parts", "bool", "false",
           "decompose the operator Attention into two contractions and a softmax">,
    Option<"batchNorm", "batch-norm", "::mtc::BatchNormMode", "::mtc::BatchNormMode::AsExported",
           "form of BatchNormalization in training steps",
           [{::llvm::cl::values(
               clEnumValN(::mtc::BatchNormMode::AsExported, "as-exported", "the form of each node in the file"),
               clEnumValN(::mtc::BatchNormMode::Train, "train", "normalize by batch statistics"),
               clEnumValN(::mtc::BatchNormMode::Frozen, "frozen", "normalize by running statistics"),
               clEnumValN(::mtc::BatchNormMode::Sync, "sync", "normalize by the statistics of all ranks"))}]>,
    Option<"ranks", "ranks", "int64_t", "1", "ranks whose samples `batch-norm=sync` normalizes together">,
    Option<"dropout", "dropout", "double", "-1", "rate of every Dropout in training form; negative: as in the graph">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

#endif // MTC_FRONTEND_CONVERT_PASSES
