//===- PossibleBuffers.cpp - Parameters that may be buffers of the module ---------------------===//

#include "frontend/onnx/parameters/PossibleBuffers.h"

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "support/compiler/Lists.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

/// Returns the initializer that a value is, looking through casts and changes of layout, or null.
static InitializerOp initializerOf(Value value) {
  while (auto node = value.getDefiningOp<NodeOp>()) {
    bool keepsElements = node.isOperator("Identity") || node.isOperator("Cast") ||
                         node.isOperator("Transpose") || node.isOperator("Reshape") ||
                         node.isOperator("Unsqueeze");
    if (!keepsElements || node.getInputs().empty())
      return {};
    value = node.getInputs().front();
  }
  return value.getDefiningOp<InitializerOp>();
}

/// Returns whether a value is the result of a linear layer inside the module `outer`.
static bool isOfLayerInside(StringRef outer, Value value) {
  auto node = value.getDefiningOp<NodeOp>();
  bool isLinear = node && (node.isOperator("MatMul") || node.isOperator("Gemm")) &&
                  node.getInputs().size() >= 2 && initializerOf(node.getInputs()[1]);
  std::string inner = isLinear ? modulePath(node) : "";
  return !inner.empty() && inner != outer &&
         (outer.empty() || StringRef(inner).starts_with((outer + ".").str()));
}

/// Returns whether an initializer has the shape of a bias, possibly with leading axes of extent 1,
/// but not the rank or the name of a layer's bias.
static bool isUnusualBias(InitializerOp initializer) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(initializer.getType()).getShape();
  if (shape.empty() || !llvm::all_of(shape.drop_back(), [](int64_t extent) { return extent == 1; }))
    return false;
  StringRef name = initializer.getName();
  return shape.size() > 1 || isTorchScriptFoldedName(name) ||
         !name.substr(name.rfind('.') + 1).contains("bias");
}

std::vector<std::string> possibleBufferWarnings(GraphOp graph,
                                                const StringMap<InitializerClass> &classes) {
  if (!isProducedBy(graph, "pytorch") || hasSignature(graph))
    return {};
  llvm::SetVector<InitializerOp> found;
  for (auto node : graph.getOps<NodeOp>()) {
    if (!node.isOperator("Add") || node.getInputs().size() != 2)
      continue;
    std::string module = modulePath(node);
    for (unsigned operand : {0, 1}) {
      InitializerOp initializer = initializerOf(node.getInputs()[operand]);
      if (!initializer || !isUnusualBias(initializer) ||
          !isOfLayerInside(module, node.getInputs()[1 - operand]))
        continue;
      auto known = classes.find(initializer.getName());
      if (known != classes.end() && known->second.role == InitializerRole::Parameter &&
          !known->second.reason.starts_with("--"))
        found.insert(initializer);
    }
  }
  if (found.empty())
    return {};
  auto describe = [](InitializerOp initializer) {
    return quoted(initializer.getName()) + " " +
           shapeText(cast<RankedTensorType>(initializer.getType()).getShape());
  };
  std::string flags;
  for (InitializerOp initializer : ArrayRef(found.getArrayRef()).take_front(shownEntries))
    flags += " --freeze " + quoted(initializer.getName());
  return {
      "possible buffers, which modules add to the outputs of their linear layers: " +
      listed(found, describe) +
      "; trained, because the file does not specify whether they are parameters. For buffers, use" +
      flags +
      "; for parameters, use --train '*'; or export with mtc.export(module, ...), which lists the "
      "module's parameters"};
}

} // namespace mtc::onnx
