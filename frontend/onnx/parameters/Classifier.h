//===- Classifier.h - Classification of initializers without patterns -------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_CLASSIFIER_H
#define MTC_FRONTEND_ONNX_PARAMETERS_CLASSIFIER_H

#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// The reason for the class of initializers that are named in `onnx.update` of a node.
inline constexpr llvm::StringLiteral updatedReason = "the module's forward pass updates it";

/// Classifies initializers by the rules in Parameters.h; keyed by name.
llvm::StringMap<InitializerClass> classifyByRules(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_CLASSIFIER_H
