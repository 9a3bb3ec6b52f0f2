//===- InferenceForm.h - Conversion of a model to inference form ------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_INFERENCEFORM_H
#define MTC_FRONTEND_ONNX_READER_INFERENCEFORM_H

#include "llvm/ADT/StringSet.h"

namespace onnx {
class GraphProto;
class ModelProto;
} // namespace onnx

namespace mtc::onnx {

struct InferenceForm {
  bool isChanged = false;
  /// Initializers of the main graph that only the training form reads.
  llvm::StringSet<> unread;
};

/// Converts the nodes of a model, including subgraphs and functions, to inference form. Dropout
/// loses operand `training_mode` and the nodes that compute it. BatchNormalization normalizes by
/// its running statistics and has one result; its other results, where used, become Identity nodes
/// of the running statistics. Marked results (InferenceValues.h) are replaced. `graph` is the main
/// graph, which need not be part of `model`.
InferenceForm toInferenceForm(::onnx::ModelProto &model, ::onnx::GraphProto &graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_INFERENCEFORM_H
