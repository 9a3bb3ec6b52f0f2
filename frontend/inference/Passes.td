//===- Passes.td - Passes over the onnx dialect -----------------------------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_PASSES
#define MTC_FRONTEND_INFERENCE_PASSES

include "mlir/Pass/PassBase.td"

def InferAndFoldPass : Pass<"onnx-infer-and-fold", "::mtc::onnx::GraphOp"> {
  let summary = "Infer the types of all values of a graph and fold what is known at compile time";
  let description = [{
    One forward walk. For each node the rule of its operator and version gives the types of the results, from the
    operands' types, the attributes and constant operands; where all operands are constant, or the result depends on
    shapes alone, it is computed and the node becomes an `onnx.constant`. Identities are forwarded, dead nodes removed.
    The graph's inputs must be static: symbolic dimensions are bound before.

    Afterwards every value is a static ranked tensor and no shape arithmetic is left. All problems of a graph (unknown
    operators, wrong attributes, shapes that depend on data) are reported, each once at its node; then the pass fails. Unknown
    operators are reported whatever their operands are. Outputs with `onnx.optional` are left out, with a remark, where a
    problem is at a node that they alone follow from.

    Results of more than 64 Mi elements or 256 MiB are not folded, unless all their elements are equal.

    ```mlir
    // before
    onnx.graph @main(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
      %axis = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
      %batch = onnx.node "Shape" version 15 (%x) {end = 1 : si64} : (tensor<2x3x4xf32>) -> tensor<*xi64>
      %shape = onnx.node "Concat" version 13 (%batch, %axis) {axis = 0 : si64}
                 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
      %y = onnx.node "Reshape" version 14 (%x, %shape) {} : (tensor<2x3x4xf32>, tensor<*xi64>) -> tensor<*xf32>
      onnx.return %y : tensor<*xf32>
    }

    // after
    onnx.graph @main(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
      %shape = onnx.constant dense<[2, -1]> : tensor<2xi64> -> tensor<2xi64>
      %y = onnx.node "Reshape" version 14 (%x, %shape) {} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
      onnx.return %y : tensor<2x12xf32>
    }
    ```
  }];
}

#endif // MTC_FRONTEND_INFERENCE_PASSES
