//===- Passes.td - Conversion of the onnx dialect to mtc --------------------------------------===//

#ifndef MTC_FRONTEND_CONVERT_PASSES
#define MTC_FRONTEND_CONVERT_PASSES

include "mlir/Pass/PassBase.td"

def ConvertOnnxToMtcPass : Pass<"convert-onnx-to-mtc", "::mlir::ModuleOp"> {
  let summary = "Convert the graph @main to the function @forward over variables";
  let description = [{
    Expects types inferred and shape arithmetic folded (`onnx-infer-and-fold`). Each node is written in the core by the
    record of its operator and version; broadcasts become explicit, composite operators their parts, and every
    operation keeps its node's location. Initializers become variables by their role, read once at their first use.
    A constant that is equal along axes is stored without them and broadcast.

    Dropout and BatchNormalization in training form become both of their forms and an `mtc.select_by_mode` of the two.
    `batch-norm` chooses the form of every BatchNormalization node, whatever the file says.

    Nodes that no operator's record converts are reported all at once, each with operator, version, name and reason; then the pass
    fails and leaves the module as it was. Outputs with `onnx.optional` that alone follow from such a node are left out.

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
           "write the operator Attention as two products and a softmax">,
    Option<"batchNorm", "batch-norm", "::mtc::BatchNormMode", "::mtc::BatchNormMode::AsExported",
           "which form of BatchNormalization training steps compute",
           [{::llvm::cl::values(
               clEnumValN(::mtc::BatchNormMode::AsExported, "as-exported", "each node's own"),
               clEnumValN(::mtc::BatchNormMode::Train, "train", "by the batch's statistics"),
               clEnumValN(::mtc::BatchNormMode::Frozen, "frozen", "by the running statistics"))}]>,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

#endif // MTC_FRONTEND_CONVERT_PASSES
