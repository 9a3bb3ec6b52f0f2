//===- Passes.td - Passes over the onnx dialect -----------------------------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_PASSES
#define MTC_FRONTEND_INFERENCE_PASSES

include "mlir/Pass/PassBase.td"

def InferAndFoldPass : Pass<"onnx-infer-and-fold", "::mtc::onnx::GraphOp"> {
  let summary = "infer the types of all values and fold constants";
  let description = [{
    The pass visits the nodes in one forward walk. The definition of a node's operator and version infers the result types
    from operand types, attributes and constant operands. If all operands are constant, or a result depends on shapes only, the
    result is computed and replaced by an `onnx.constant`. Identity nodes are forwarded, dead nodes removed, and control flow
    and sequences expanded as by `onnx-expand-control-flow`. Symbolic dimensions must be bound before, since the graph's
    inputs must be static.

    Afterwards every value is a static ranked tensor, and no shape arithmetic remains. The pass reports all errors of a graph
    (unknown operators, invalid attributes, data-dependent shapes), each once at its node, and then fails. Unknown operators are
    reported even if the types of their operands are not known. If only outputs with `onnx.optional` depend on an invalid
    node, the pass removes these outputs with a remark instead.

    Results with more than 64 Mi elements or 256 MiB are not folded, unless all elements are equal.

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
  let options = [Option<"unroll", "unroll", "int64_t", "64", "maximum number of iterations of a loop that is unrolled">];
}

def ExpandControlFlowPass : Pass<"onnx-expand-control-flow", "::mtc::onnx::GraphOp"> {
  let summary = "expand control flow and sequences known at compile time";
  let description = [{
    Replaces an `If` by the nodes of the branch that its condition selects, and a `Loop` or `Scan` by one copy of its body per
    iteration. A loop of more than `unroll` iterations remains if its iterations differ only in data: if the number of iterations
    is constant, no condition depends on data, the types of states are constant, and no operator in it has another form in training
    or draws random numbers. `onnx-infer-and-fold` replaces it by `mtc.Scan`, which computes all iterations with one subgraph.

    If a condition depends on data, both branches or all iterations are expanded, their results are selected by `Where`, and values
    that enter them pass an `mtc.Gate`, whose gradient is 0 unless the branch is taken. Rewrites operators on sequences to operators
    on the elements. Other nodes and all declared types are unchanged. Afterwards the passes that choose parameters find all uses of
    an initializer in one block and in the subgraphs of loops.

    A node remains if its expansion depends on a value that is not known; `onnx-infer-and-fold`, which expands the same nodes,
    reports the error. The pass does nothing if the graph's inputs are not static.

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
  let options = [Option<"unroll", "unroll", "int64_t", "64", "maximum number of iterations of a loop that is unrolled">];
}

#endif // MTC_FRONTEND_INFERENCE_PASSES
