//===- Passes.td - Passes that choose parameters ------------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_PASSES
#define MTC_FRONTEND_PARAMETERS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseParametersPass : Pass<"onnx-choose-parameters", "::mtc::onnx::GraphOp"> {
  let summary = "classify initializers as parameters, constants or state";
  let description = [{
    Sets the role of each initializer. `frontend/onnx/parameters/Parameters.h` describes the rules, which depend on the file's
    metadata of initializers and nodes. Patterns override the rules. Constant nodes that `train` matches become initializers.

    ```mlir
    // before
    %w = onnx.initializer "fc.weight" {sample = dense<…> : tensor<4x8xf32>} : tensor<4x8xf32>
    // after
    %w = onnx.initializer "fc.weight" {reason = "a floating-point initializer", role = "parameter", sample = …} : tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
  let options = [
    ListOption<"train", "train", "std::string", "name patterns of the only initializers to train">,
    ListOption<"freeze", "freeze", "std::string", "name patterns of initializers not to train">,
    Option<"adapters", "adapters", "bool", "false", "train only adapters and initializers that `train` matches">,
  ];
}

def FoldInitializersPass : Pass<"onnx-fold-initializers", "::mtc::onnx::GraphOp"> {
  let summary = "fold constant initializers and drop the exporter's metadata";
  let description = [{
    Replaces constant initializers whose elements are all known by `onnx.constant`, and removes the attributes from which
    parameters were chosen. Large tables are not folded; their data stays in the file. Frozen parameters are not folded either,
    because their values may come from other weights. Exceptions are frozen scalars and vectors that the exporter does not mark
    as parameters, since operators may need them as attributes; with `keep-vectors`, vectors are not folded.

    ```mlir
    // before
    %e = onnx.initializer "eps" {role = "constant", sample = dense<1.0> : tensor<f32>} : tensor<f32>
    %w = onnx.initializer "w" {role = "parameter", sample = dense<2.0> : tensor<4xf32>} : tensor<4xf32>
    // after
    %e = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
    %w = onnx.initializer "w" {role = "parameter"} : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"keepVectors", "keep-vectors", "bool", "false", "do not fold frozen vectors, whose values other weights provide">,
  ];
}

#endif // MTC_FRONTEND_PARAMETERS_PASSES
