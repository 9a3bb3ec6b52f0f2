//===- Passes.td - Passes that undo rewrites of ONNX exporters --------------------------------===//

#ifndef MTC_FRONTEND_EXPORTERS_PASSES
#define MTC_FRONTEND_EXPORTERS_PASSES

include "mlir/Pass/PassBase.td"

def FormDropoutPass : Pass<"onnx-form-dropout", "::mtc::onnx::GraphOp"> {
  let summary = "give decomposed dropout its inference form";
  let description = [{
    Exporters write most forms of dropout as random numbers, a comparison and arithmetic. The pass computes values as functions
    `offset[m] + slope[m] x` of a random mask m of zeros and ones and one other value x:

    | form | values | in inference |
    |---|---|---|
    | dropout of elements, channels or samples (stochastic depth) | 0 or x / p, where p is the probability of x / p | x |
    | alpha dropout | a constant or a x + b; mean 0 and variance 1 stay | x |
    | rrelu | PRelu with uniformly distributed slopes | LeakyRelu with their mean |

    The last value of the form becomes `mtc.SelectByMode(value, inference)`. Values of other forms, such as x plus noise, may be
    random in inference too and do not change. Types must have been inferred.

    ```mlir
    // before
    %u = onnx.node "RandomUniformLike" version 1 (%ones) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %b = onnx.node "Less" version 13 (%u, %half) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xi1>
    %m = onnx.node "Cast" version 13 (%b) {to = 1 : si64} : (tensor<4x1xi1>) -> tensor<4x1xf32>
    %k = onnx.node "Div" version 14 (%m, %half) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %d = onnx.node "Mul" version 14 (%x, %k) {} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>

    // after, in addition, and in place of %d for its users
    %y = onnx.node domain "mtc" "SelectByMode" version 1 (%d, %x) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def FormSafeSoftmaxPass : Pass<"onnx-form-safe-softmax", "::mtc::onnx::GraphOp"> {
  let summary = "rewrite a softmax guarded against NaN to SafeSoftmax";
  let description = [{
    PyTorch's exporter writes scaled dot-product attention with the pattern

    ```
    s = Softmax(x), Where(IsNaN(s), 0, s)  =>  mtc.SafeSoftmax(x)
    ```

    to handle fully masked rows. Masked elements may have the smallest finite number in place of -inf: PyTorch's exporter adds
    `Where(mask, 0, lowest)` to the scores, which becomes `Where(mask, 0, -inf)`. The gradient of the three nodes is NaN in such a row, because `Where` blocks the cotangent but
    the vector-Jacobian product of Softmax multiplies by NaN. The result and the gradient of `SafeSoftmax` in the domain `mtc`
    are zero in such a row. Types must have been inferred.

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
  let summary = "give roots of sums of powers a zero gradient at zero";
  let description = [{
    PyTorch's norm, std and cdist have the gradient 0 where their value is 0. Exporters write them as a root of a sum of powers
    or, for cdist, of a value clamped to at least 0:

    ```
    Sqrt(ReduceMean(Mul(d, d)))  =>  mtc.SafeRoot(ReduceMean(Mul(d, d)))
    Pow(ReduceSum(Pow(Abs(d), 3)), 1/3), Sqrt(Clip(d, 0))    likewise
    ```

    The gradient of these nodes is the root's infinite gradient times 0, which is NaN. The pattern may contain scaling by
    constants, casts and reshapes between the sum and the root. Types must have been inferred.

    ```mlir
    // before
    %s = onnx.node "Mul" version 14 (%d, %d) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %v = onnx.node "ReduceMean" version 18 (%s, %axis) {} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
    %y = onnx.node "Sqrt" version 13 (%v) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>

    // after, in place of the Sqrt node
    %y = onnx.node domain "mtc" "SafeRoot" version 1 (%v) {exponent = 0.5 : f64} : (tensor<4x1xf32>) -> tensor<4x1xf32>
    ```
  }];
}

def FormTorchExtremaPass : Pass<"onnx-form-torch-extrema", "::mtc::onnx::GraphOp"> {
  let summary = "distinguish PyTorch's clamps and maxima by their FX operators";
  let description = [{
    PyTorch's exporter writes functions with different gradients as the same operator. The FX operator in the node's metadata
    (`onnx.fx_operator`, `onnx.arguments`) decides:

    ```
    Max(x, b), Min(x, b) of aten.clamp by numbers    =>  Clip, with the gradient 0 at the bounds
    Clip(x, a, b) of aten.clamp by tensors           =>  Min(Max(x, a), b), which share the gradient of equal elements
    ReduceMax of aten.max.dim, ReduceMin of aten.min.dim: the attribute onnx.first_extremum, for a gradient of the first element
    ```

    The pass must run before the metadata is dropped.

    ```mlir
    // before
    %y = onnx.node "Max" version 13 (%x, %b) {} {onnx.arguments = ["%x", "%scalar_tensor_default"],
           onnx.fx_operator = "aten.clamp.Tensor"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

    // after
    %y = onnx.node "Clip" version 13 (%x, %b) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
}

def MarkStraightThroughClipsPass : Pass<"onnx-mark-straight-through-clips", "::mtc::onnx::GraphOp"> {
  let summary = "let gradients pass through clips of variances and norms";
  let description = [{
    `gaussian_nll_loss` and `cosine_similarity` of PyTorch clip a variance or a norm without gradients, so that the gradient
    passes through the clip. Exporters write a Clip:

    ```
    v = Clip(x, eps), Add(Log(v), Div(Pow(Sub(a, b), 2), v))
    n = Clip(ReduceL2(x), eps), m = Clip(ReduceL2(y), eps), ReduceSum(Mul(Div(x, n), Div(y, m)))
    ```

    The pass adds the attribute `onnx.straight_through` to these Clip nodes. A module that clips a variance by itself and is
    exported with `dynamo=False` has the same nodes; with the other exporters, its Clip has the operator of the module.

    ```mlir
    // before
    %v = onnx.node "Clip" version 13 (%x, %eps) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

    // after
    %v = onnx.node "Clip" version 13 (%x, %eps) {} {onnx.straight_through} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
}

def FormBinaryCrossEntropyPass : Pass<"onnx-form-binary-cross-entropy", "::mtc::onnx::GraphOp"> {
  let summary = "rewrite decomposed binary cross-entropy to BinaryCrossEntropy";
  let description = [{
    PyTorch's exporter decomposes `binary_cross_entropy` of probabilities:

    ```
    Sub(Mul(Sub(t, 1), Max(Log(1 - p), -100)), Mul(t, Max(Log(p), -100)))  =>  mtc.BinaryCrossEntropy(p, t)
    ```

    The gradient of the nodes is 0 where a logarithm is clipped. PyTorch's is (p - t) / max(p (1 - p), 1e-12) everywhere. Types
    must have been inferred.

    ```mlir
    // after
    %y = onnx.node domain "mtc" "BinaryCrossEntropy" version 1 (%p, %t) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def FormTorchFunctionsPass : Pass<"onnx-form-torch-functions", "::mtc::onnx::GraphOp"> {
  let summary = "rewrite decompositions of PyTorch's functions whose gradient differs";
  let description = [{
    Exporters decompose these functions into nodes whose gradient is infinite, NaN or another one at some points:

    ```
    Where(Equal(x, 0), x, Where(IsNaN(y), y, Mul(x, Log(y))))                             =>  mtc.XLogY(x, y)
    Log(Add(Exp(a), Exp(b)))                                                              =>  mtc.LogAddExp(a, b)
    a = Atan(Div(y, x)), Where(Less(x, 0), Where(Greater(y, 0), Add(a, pi), Sub(a, pi)), a) =>  mtc.Atan2(y, x)
    Div(d, Max(Sqrt(Mul(s, t)), eps)) of sums of squares s, t      =>  Div(d, Mul(Clip(SafeRoot(s), eps), Clip(SafeRoot(t), eps)))
    ```

    The last one is `cosine_similarity` with `dynamo=False`; its Clip nodes have `onnx.straight_through`. Types must have been
    inferred.

    ```mlir
    // before
    %e = onnx.node "Exp" version 13 (%a) {} : (tensor<4xf32>) -> tensor<4xf32>
    %f = onnx.node "Exp" version 13 (%b) {} : (tensor<4xf32>) -> tensor<4xf32>
    %s = onnx.node "Add" version 14 (%e, %f) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = onnx.node "Log" version 13 (%s) {} : (tensor<4xf32>) -> tensor<4xf32>

    // after
    %y = onnx.node domain "mtc" "LogAddExp" version 1 (%a, %b) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def FormLogSigmoidPass : Pass<"onnx-form-log-sigmoid", "::mtc::onnx::GraphOp"> {
  let summary = "rewrite logarithms of sigmoids to LogSigmoid";
  let description = [{
    PyTorch's TorchScript-based exporter writes `logsigmoid` as Log(Sigmoid(x)), which is -inf where the sigmoid rounds to 0,
    below about -88 in f32. LogSigmoid computes the stable form min(x, 0) - ln(1 + e^-|x|). Log(1 - Sigmoid(x)), a part of
    `binary_cross_entropy_with_logits`, is LogSigmoid(-x).

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
  let summary = "rewrite a transpose between two reshapes to one transpose";
  let description = [{
    PyTorch's exporter flattens the leading axes of attention keys in order to transpose three dimensions:

    ```
    Reshape(Transpose(Reshape(x, [G, T, D]), [0, 2, 1]), [.., D, T])  =>  Transpose(x, [.., D, T])
    ```

    where x has shape [.., T, D] and G is the product of the leading extents. A single transpose can be combined with the
    preceding one. Types must have been inferred.

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
  let summary = "split initializers in which the exporter stored several parameters";
  let description = [{
    PyTorch's exporters store tensors of equal values once: in the export of an untrained model, all norm scales are one
    initializer. The pass traces each use to a parameter of the module and gives this parameter its own initializer. It
    identifies the parameter by the node's module and the file's list of parameters (`onnx.module`, `onnx.signature`), or by an
    Identity with the parameter's name. Each split is reported as a remark.

    A matrix whose values are not all equal may be tied in the module. The policy `auto` does not split it and warns instead.

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
    ListOption<"untie", "untie", "std::string", "initializers to split by module">,
    Option<"policy", "policy", "::mtc::SharedInitializerPolicy", "::mtc::SharedInitializerPolicy::Auto",
           "which shared initializers to split",
           [{::llvm::cl::values(
               clEnumValN(::mtc::SharedInitializerPolicy::Auto, "auto", "all but matrices that may be tied"),
               clEnumValN(::mtc::SharedInitializerPolicy::Split, "split", "all"),
               clEnumValN(::mtc::SharedInitializerPolicy::Keep, "keep", "none"))}]>,
  ];
}

def TieInitializersPass : Pass<"onnx-tie-initializers", "::mtc::onnx::GraphOp"> {
  let summary = "merge initializers that represent one weight of the module";
  let description = [{
    Exporters fold a weight separately at each of its uses: an output layer uses a transposed copy of the embedding, or each
    call of a layer uses its own copy. `frontend/onnx/parameters/Ties.h` decides which initializers are one weight. The users of a
    copy are changed to use the remaining initializer, which lists the copy in `file_images`, so that exported models contain
    both.

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
    ListOption<"tie", "tie", "std::string", "pairs A=B of initializers to tie, or equal">,
    ListOption<"untie", "untie", "std::string", "initializers to keep separate">,
    Option<"adapters", "adapters", "bool", "false", "tie only the pairs in `tie`, as adapters are trained">,
  ];
}

#endif // MTC_FRONTEND_EXPORTERS_PASSES
