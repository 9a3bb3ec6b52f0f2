//===- BatchNormalization.cpp - The form of a BatchNormalization node -------------------------===//

#include "frontend/onnx/dialect/BatchNormalization.h"

using namespace mlir;

namespace mtc::onnx {

bool isBatchNormInTrainingForm(NodeView &node) {
  if (node.version() >= 14)
    return node.flag("training_mode", false);
  return llvm::any_of(llvm::seq<size_t>(1, node.resultCount()),
                      [&](size_t i) { return node.wants(i); });
}

InitializerOp runningStatistic(NodeOp node, size_t operand) {
  Value value = node.getInputs()[operand];
  while (auto earlier = value.getDefiningOp<NodeOp>()) {
    if (earlier.isOperator("Identity"))
      value = earlier.getInputs().front();
    else if (size_t result = cast<OpResult>(value).getResultNumber();
             earlier.isOperator("BatchNormalization") && result > 0)
      value = earlier.getInputs()[runningOperand(result)];
    else
      break;
  }
  return value.getDefiningOp<InitializerOp>();
}

BatchNormFramework batchNormFramework(NodeOp node) {
  auto name = node->getAttrOfType<StringAttr>(frameworkAttribute);
  if (!name)
    return BatchNormFramework::Onnx;
  return name == kerasFramework ? BatchNormFramework::Keras : BatchNormFramework::PyTorch;
}

} // namespace mtc::onnx
