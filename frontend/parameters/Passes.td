//===- Passes.td - Passes that choose what is trained -------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_PASSES
#define MTC_FRONTEND_PARAMETERS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseParametersPass : Pass<"onnx-choose-parameters", "::mtc::onnx::GraphOp"> {
  let summary = "Say of each initializer whether it is a parameter, trained or frozen, a constant or state";
  let description = [{
    The rules are in `frontend/parameters/Parameters.h`, and go by what the file says of initializers and nodes; patterns
    override them. A constant of a Constant node that `train` matches becomes an initializer.

    ```mlir
    // before
    %w = onnx.initializer "fc.weight" {sample = dense<…> : tensor<4x8xf32>} : tensor<4x8xf32>
    // after
    %w = onnx.initializer "fc.weight" {reason = "a floating-point initializer", role = "parameter", sample = …} : tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
  let options = [
    ListOption<"train", "train", "std::string", "patterns of the names of all that is trained">,
    ListOption<"freeze", "freeze", "std::string", "patterns of the names of what is not trained">,
    Option<"adapters", "adapters", "bool", "false", "nothing is trained but adapters and what `train` names">,
  ];
}

def FoldInitializersPass : Pass<"onnx-fold-initializers", "::mtc::onnx::GraphOp"> {
  let summary = "Make constants of initializers that are constant and known, and forget what parameters were chosen by";
  let description = [{
    Elements of large tables stay in the file: nothing folds them. So do those of frozen parameters, which may come from
    other weights, but for scalars and vectors that the exporter does not call parameters: operators may take them as
    attributes.

    ```mlir
    // before
    %e = onnx.initializer "eps" {role = "constant", sample = dense<1.0> : tensor<f32>} : tensor<f32>
    %w = onnx.initializer "w" {role = "parameter", sample = dense<2.0> : tensor<4xf32>} : tensor<4xf32>
    // after
    %e = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
    %w = onnx.initializer "w" {role = "parameter"} : tensor<4xf32>
    ```
  }];
}

#endif // MTC_FRONTEND_PARAMETERS_PASSES
