//===- Passes.td - Passes that undo what exporters do to a model ------------------------------===//

#ifndef MTC_FRONTEND_EXPORTERS_PASSES
#define MTC_FRONTEND_EXPORTERS_PASSES

include "mlir/Pass/PassBase.td"

def FormSafeSoftmaxPass : Pass<"onnx-form-safe-softmax", "::mtc::onnx::GraphOp"> {
  let summary = "Take a softmax that is guarded against NaN as one node";
  let description = [{
    PyTorch's exporter writes scaled dot-product attention with

    ```
    s = Softmax(x), Where(IsNaN(s), 0, s)  =>  mtc.SafeSoftmax(x)
    ```

    for rows that are masked in full. As three nodes its gradient is NaN in such a row, because `Where` stops the
    cotangent but the softmax behind it multiplies by NaN. `SafeSoftmax` of the domain `mtc` is zero there, and so is its
    gradient. Types must have been inferred.

    ```mlir
    // before
    %s = onnx.node "Softmax" version 13 (%x) {axis = -1 : si64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %n = onnx.node "IsNaN" version 20 (%s) {} : (tensor<4x8xf32>) -> tensor<4x8xi1>
    %y = onnx.node "Where" version 16 (%n, %zero, %s) {}
           : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>

    // after
    %y = onnx.node domain "mtc" "SafeSoftmax" version 1 (%x) {axis = 1 : si64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def FormSafeRootPass : Pass<"onnx-form-safe-root", "::mtc::onnx::GraphOp"> {
  let summary = "Give the root of a sum of powers the gradient 0 where it is 0";
  let description = [{
    PyTorch's norm, std and cdist have the gradient 0 where they are 0. Exporters write them as a root of a sum of powers or,
    cdist, of what is kept from falling below 0:

    ```
    Sqrt(ReduceMean(Mul(d, d)))  =>  mtc.SafeRoot(ReduceMean(Mul(d, d)))
    Pow(ReduceSum(Pow(Abs(d), 3)), 1/3), Sqrt(Clip(d, 0))    likewise
    ```

    As these nodes the gradient is the root's infinite one times 0, NaN. Scaling by constants and reshapes between the sum
    and the root are passed over. Types must have been inferred.

    ```mlir
    // before
    %s = onnx.node "Mul" version 14 (%d, %d) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %v = onnx.node "ReduceMean" version 18 (%s, %axis) {} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
    %y = onnx.node "Sqrt" version 13 (%v) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>

    // after, in place of the last one
    %y = onnx.node domain "mtc" "SafeRoot" version 1 (%v) {exponent = 0.5 : f64} : (tensor<4x1xf32>) -> tensor<4x1xf32>
    ```
  }];
}

def FormLogSigmoidPass : Pass<"onnx-form-log-sigmoid", "::mtc::onnx::GraphOp"> {
  let summary = "Take the logarithm of a sigmoid as one node";
  let description = [{
    PyTorch's older exporter writes `logsigmoid` as Log(Sigmoid(x)), which is -inf where the sigmoid rounds to 0, below about
    -88 in f32. As one node it is min(x, 0) - ln(1 + e^-|x|).

    ```mlir
    // before
    %s = onnx.node "Sigmoid" version 13 (%x) {} : (tensor<4xf32>) -> tensor<4xf32>
    %y = onnx.node "Log" version 13 (%s) {} : (tensor<4xf32>) -> tensor<4xf32>

    // after
    %y = onnx.node domain "mtc" "LogSigmoid" version 1 (%x) {} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def MergeReshapedTransposesPass : Pass<"onnx-merge-reshaped-transposes", "::mtc::onnx::GraphOp"> {
  let summary = "Take a transpose between two reshapes as one node";
  let description = [{
    PyTorch's exporter transposes the keys of attention through three dimensions:

    ```
    Reshape(Transpose(Reshape(x, [G, T, D]), [0, 2, 1]), [.., D, T])  =>  Transpose(x, [.., D, T])
    ```

    where x is [.., T, D] and the leading extents .. make up G. As one node the transpose meets the one before it. Types
    must have been inferred.

    ```mlir
    // before
    %a = onnx.node "Reshape" version 19 (%x, %s) {} : (tensor<2x3x4x5xf32>, tensor<3xi64>) -> tensor<6x4x5xf32>
    %b = onnx.node "Transpose" version 13 (%a) {perm = array<i64: 0, 2, 1>} : (tensor<6x4x5xf32>) -> tensor<6x5x4xf32>
    %y = onnx.node "Reshape" version 19 (%b, %t) {} : (tensor<6x5x4xf32>, tensor<4xi64>) -> tensor<2x3x5x4xf32>

    // after
    %y = onnx.node "Transpose" version 13 (%x) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32>
    ```
  }];
}

def SplitSharedInitializersPass : Pass<"onnx-split-shared-initializers", "::mtc::onnx::GraphOp"> {
  let summary = "Give each parameter that the exporter stored with others an initializer of its own";
  let description = [{
    PyTorch's exporters store tensors of equal values once: in the export of a fresh model all norms' scales are one
    initializer. Each use is traced to a parameter of the module, which has its own from here on: by the module that the node
    came from and the parameters that the file lists (`onnx.module`, `onnx.signature`), or by an Identity of the parameter's
    name. What is split is a remark.

    A matrix of different values may be tied in the module. `auto` keeps it, with a warning.

    ```mlir
    // before, in a graph with onnx.signature = ["a.weight", "b.weight"]
    %w = onnx.initializer "a.weight" {kind = "PARAMETER"} : tensor<8xf32>
    %0 = onnx.node "Mul" version 14 (%x, %w) {} {onnx.module = "a"} : …
    %1 = onnx.node "Mul" version 14 (%0, %w) {} {onnx.module = "b"} : …

    // after
    %w = onnx.initializer "a.weight" {kind = "PARAMETER"} : tensor<8xf32>
    %w2 = onnx.initializer "b.weight" {split_from = "a.weight"} : tensor<8xf32>
    %0 = onnx.node "Mul" version 14 (%x, %w) {} {onnx.module = "a"} : …
    %1 = onnx.node "Mul" version 14 (%0, %w2) {} {onnx.module = "b"} : …
    ```
  }];
  let options = [
    ListOption<"untie", "untie", "std::string", "initializers whose uses in different modules are split">,
    Option<"policy", "policy", "::mtc::SharedInitializerPolicy", "::mtc::SharedInitializerPolicy::Auto", "what is split",
           [{::llvm::cl::values(
               clEnumValN(::mtc::SharedInitializerPolicy::Auto, "auto", "all but matrices of different values"),
               clEnumValN(::mtc::SharedInitializerPolicy::Split, "split", "everything"),
               clEnumValN(::mtc::SharedInitializerPolicy::Keep, "keep", "nothing"))}]>,
  ];
}

def TieInitializersPass : Pass<"onnx-tie-initializers", "::mtc::onnx::GraphOp"> {
  let summary = "Make one initializer of those that are one weight of the module";
  let description = [{
    Exporters fold a weight at each of its uses: the transposed copy of an embedding that an output layer reads, or one copy for each
    call of a layer. Which initializers are one weight is decided in `frontend/parameters/Ties.h`. The users of a copy read the
    initializer that is kept, which lists the copy in `file_images`, so that exports hold it too.

    ```mlir
    // before
    %e = onnx.initializer "embed.weight" {kind = "PARAMETER"} : tensor<12x6xf32>
    %h = onnx.initializer "val_0" {onnx.folded_from = ["embed.weight"]} : tensor<6x12xf32>
    // after
    %e = onnx.initializer "embed.weight" {file_images = [#mtc.tensor_image<"val_0", …>], kind = "PARAMETER"} : tensor<12x6xf32>
    %h = onnx.node "Transpose" version 13 (%e) {perm = array<i64: 1, 0>} : (tensor<12x6xf32>) -> tensor<6x12xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
  let options = [
    ListOption<"tie", "tie", "std::string", "A=B: two initializers that are one weight">,
    ListOption<"untie", "untie", "std::string", "initializers that are weights of their own">,
    Option<"adapters", "adapters", "bool", "false", "nothing is tied but what `tie` names, since adapters are trained">,
  ];
}

#endif // MTC_FRONTEND_EXPORTERS_PASSES
