//===- InferenceForms.h - Nodes that training steps compute in inference form -----------------===//

#ifndef MTC_FRONTEND_PARAMETERS_INFERENCEFORMS_H
#define MTC_FRONTEND_PARAMETERS_INFERENCEFORMS_H

#include "frontend/parameters/Parameters.h"

namespace mtc::onnx {

/// A warning with its remedies where the file holds BatchNormalization nodes in inference form that
/// are not frozen; empty otherwise. Parameters have been chosen.
std::string batchNormWarning(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

/// A warning where PyTorch exported dropout of a module in train() to a version of Dropout that has
/// inference form alone, that before opset 12; empty otherwise.
std::string dropoutWarning(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_INFERENCEFORMS_H
