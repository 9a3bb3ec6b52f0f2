//===- BatchNormalization.cpp - The form of a BatchNormalization node -------------------------===//

#include "frontend/dialect/BatchNormalization.h"

namespace mtc::onnx {

bool isBatchNormInTrainingForm(NodeView &node) {
  if (node.version() >= 14)
    return node.flag("training_mode", false);
  return llvm::any_of(llvm::seq<size_t>(1, node.resultCount()),
                      [&](size_t i) { return node.wants(i); });
}

} // namespace mtc::onnx
