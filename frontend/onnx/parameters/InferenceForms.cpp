//===- InferenceForms.cpp - Warnings about nodes in inference form ----------------------------===//

#include "frontend/onnx/parameters/InferenceForms.h"

#include "frontend/onnx/dialect/BatchNormalization.h"
#include "frontend/onnx/dialect/Modes.h"
#include "frontend/onnx/parameters/InitializerUses.h"

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
  const llvm::DenseSet<Operation *> onlyOfInference = nodesOnlyOfInference(graph);
  for (auto node : graph.getOps<NodeOp>()) {
    if (!node.isOperator("BatchNormalization") || onlyOfInference.contains(node))
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

std::vector<std::string> runningVarianceNotes(GraphOp graph) {
  bool isFound[3] = {};
  for (auto node : graph.getOps<NodeOp>())
    if (NodeView view(node);
        node.isOperator("BatchNormalization") && isBatchNormInTrainingForm(view))
      isFound[static_cast<size_t>(batchNormFramework(node))] = true;
  std::vector<std::string> notes;
  auto add = [&](BatchNormFramework framework, StringRef text) {
    if (isFound[static_cast<size_t>(framework)])
      notes.push_back(("batch norm: the running variance is " + text).str());
  };
  add(BatchNormFramework::PyTorch, "PyTorch's, divided by N - 1, as PyTorch wrote the file");
  add(BatchNormFramework::Keras, "Keras', divided by N, for variables of Keras");
  add(BatchNormFramework::Onnx,
      "ONNX's, divided by N; use --batch-norm train for PyTorch's, divided by N - 1");
  return notes;
}

/// Returns ` a, b, c and 2 more`.
static std::string listNodes(ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  std::string text = " " + llvm::join(names.take_front(shown), ", ");
  if (names.size() > shown)
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

std::string randomWarning(GraphOp graph) {
  SmallVector<std::string> drawn, kept;
  const llvm::DenseSet<Operation *> nodes = nodesOfInference(graph);
  for (auto node : graph.getOps<NodeOp>()) {
    if (!nodes.contains(node))
      continue;
    std::string name = ("'" + nodeName(node) + "'").str();
    if (drawsInInference(node))
      drawn.push_back(name + " (" + node.getOpType().str() + ")");
    // Nodes that the file lists have no paths, because the file names their values.
    else if (isSelectByMode(node) && !node->hasAttr(replacedAttribute) &&
             !node->hasAttr(listedAttribute))
      kept.push_back(std::move(name));
  }
  if (!drawn.empty())
    return "random numbers: " + std::to_string(drawn.size()) +
           (drawn.size() == 1 ? " node draws" : " nodes draw") +
           " in inference too, so results of --evaluate, --outputs and --export are random:" +
           listNodes(drawn) +
           (graph->hasAttr(inferenceListedAttribute)
                ? "; so they are in the module's eval()"
                : "; if the module draws only in training, export it with mtc.export, which "
                  "records what it computes in eval()");
  if (!kept.empty())
    return "dropout: files of --export drop elements in inference too, as the nodes are part of "
           "functions:" +
           listNodes(kept) + "; inline the functions with onnx.inliner";
  return "";
}

} // namespace mtc::onnx
