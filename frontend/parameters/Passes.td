//===- Passes.td - Passes that choose what is trained -------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_PASSES
#define MTC_FRONTEND_PARAMETERS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseParametersPass : Pass<"onnx-choose-parameters", "::mtc::onnx::GraphOp"> {
  let summary = "Say of each initializer whether it is a parameter, a constant or state";
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
  let options = [
    ListOption<"train", "train", "std::string", "patterns of the names of all that is trained">,
    ListOption<"freeze", "freeze", "std::string", "patterns of the names of what is not trained">,
  ];
}

def FoldInitializersPass : Pass<"onnx-fold-initializers", "::mtc::onnx::GraphOp"> {
  let summary = "Make constants of initializers that are constant and known, and forget what parameters were chosen by";
  let description = [{
    Elements of large tables stay in the file: nothing folds them.

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
