//===- InferenceForms.cpp - Warnings about nodes in inference form ----------------------------===//

#include "frontend/parameters/InferenceForms.h"

#include "frontend/dialect/BatchNormalization.h"
#include "frontend/parameters/InitializerUses.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns BatchNormalization nodes with a frozen scale or bias, whose inference form is intended.
static llvm::DenseSet<Operation *>
findFrozenNodes(GraphOp graph, const llvm::StringMap<InitializerClass> &classes) {
  llvm::DenseSet<Operation *> frozen;
  for (const auto &entry : initializerUses(graph)) {
    auto known = classes.find(entry.getKey());
    if (known == classes.end() || known->second.role != InitializerRole::Frozen)
      continue;
    for (const InitializerUse &use : entry.second)
      if (use.operand == 1 || use.operand == 2)
        frozen.insert(use.node);
  }
  return frozen;
}

/// Returns how PyTorch's exporters treat the training form of a module.
static StringRef describeExporter(GraphOp graph) {
  if (!isProducedBy(graph, "pytorch"))
    return "";
  if (hasSignature(graph))
    return ". torch.onnx.export with dynamo=True writes inference form even for modules in train()";
  return ". torch.onnx.export(..., dynamo=False, training=torch.onnx.TrainingMode.TRAINING, "
         "do_constant_folding=False) keeps training form";
}

std::string batchNormWarning(GraphOp graph, const llvm::StringMap<InitializerClass> &classes) {
  llvm::DenseSet<Operation *> frozen = findFrozenNodes(graph, classes);
  size_t all = 0, inInferenceForm = 0;
  bool isMeant = true;
  for (auto node : graph.getOps<NodeOp>()) {
    if (!node.isOperator("BatchNormalization"))
      continue;
    ++all;
    NodeView view(node);
    if (isBatchNormInTrainingForm(view))
      continue;
    ++inInferenceForm;
    isMeant &= frozen.contains(node);
  }
  if (isMeant)
    return "";
  return ("batch norm: " + Twine(inInferenceForm) + " of " + Twine(all) +
          " BatchNormalization nodes are in inference form and use fixed running statistics in "
          "training; use --batch-norm train for batch statistics, as in PyTorch's train(), or "
          "--batch-norm frozen to silence this warning" +
          describeExporter(graph))
      .str();
}

std::string unusedModeWarning(GraphOp graph, BatchNormMode mode) {
  bool isUsed = llvm::any_of(graph.getOps<NodeOp>(),
                             [](NodeOp node) { return node.isOperator("BatchNormalization"); });
  if (mode == BatchNormMode::AsExported || isUsed)
    return "";
  return ("--batch-norm " + stringifyEnum(mode) +
          ": the model has no BatchNormalization nodes, so the flag has no effect. Exporters and "
          "graph optimizers fold them into other weights; export with mtc.export, or compile the "
          "file before the optimization")
      .str();
}

std::string dropoutWarning(GraphOp graph) {
  int64_t count = llvm::count_if(graph.getOps<NodeOp>(), [](NodeOp node) {
    return node.isOperator("Dropout") && node.getVersion() < 12 &&
           NodeView(node).floating("ratio", 0.5) > 0;
  });
  if (count == 0 || !isProducedBy(graph, "pytorch"))
    return "";
  return ("dropout: " + Twine(count) + (count == 1 ? " Dropout node is" : " Dropout nodes are") +
          " in inference form: no dropout in training, because ONNX before opset 12 has no "
          "training form; export with opset_version=12 or later")
      .str();
}

} // namespace mtc::onnx
