//===- InferenceForm.h - A model's file without what training alone computes -----------------===//

#ifndef MTC_FRONTEND_READER_INFERENCEFORM_H
#define MTC_FRONTEND_READER_INFERENCEFORM_H

#include "llvm/ADT/StringSet.h"

namespace onnx {
class GraphProto;
class ModelProto;
} // namespace onnx

namespace mtc::onnx {

struct InferenceForm {
  bool isChanged = false;
  /// Initializers of the main graph that training form alone reads.
  llvm::StringSet<> unread;
};

/// Puts the nodes of a model into inference form, those of subgraphs and functions too. Dropout
/// loses its operand `training_mode`, and what computes it. BatchNormalization normalizes by its
/// running statistics and has one result; Identity nodes give running statistics to what reads the
/// others. `graph` is the model's main graph, which `model` need not hold.
InferenceForm toInferenceForm(::onnx::ModelProto &model, ::onnx::GraphProto &graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_INFERENCEFORM_H
