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
    Control flow and sequences are expanded as by `onnx-expand-control-flow`.
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

def ExpandControlFlowPass : Pass<"onnx-expand-control-flow", "::mtc::onnx::GraphOp"> {
  let summary = "Replace control flow and sequences that are known at compile time by plain nodes";
  let description = [{
    An `If` becomes the nodes of the branch that its condition chooses, a `Loop` or `Scan` those of its body once for each
    iteration. Operators on sequences become operators on the elements. Other nodes, and declared types, stay as they are, so that
    passes over parameters find all uses of an initializer in one block.

    A node stays where something about it is not known; `onnx-infer-and-fold`, which expands in the same way, reports
    it. So does everything where the graph's inputs are not static.

    ```mlir
    // before
    %n = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
    %y = onnx.node "Loop" version 16 (%n, %none, %x) {} graphs ["body"] {
    ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
      %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
      onnx.return %c, %w : tensor<*xindex>, tensor<*xindex>
    } : (tensor<i64>, none, tensor<4xf32>) -> tensor<*xindex>

    // after
    %w0 = onnx.node "Tanh" version 13 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
    %y = onnx.node "Tanh" version 13 (%w0) {} : (tensor<*xindex>) -> tensor<*xindex>
    ```
  }];
}

#endif // MTC_FRONTEND_INFERENCE_PASSES
