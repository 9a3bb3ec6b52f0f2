//===- Modes.cpp - Nodes of training steps and of inference -----------------------------------===//

#include "frontend/onnx/dialect/Modes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mtc::onnx {

NodeOp selectByMode(OpBuilder &builder, Value training, Value inference) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(training);
  auto select =
      NodeOp::create(builder, training.getLoc(), {training.getType()}, selectByModeOperator,
                     /*version=*/1, builder.getStringAttr("mtc"), builder.getDictionaryAttr({}),
                     ValueRange{training, inference});
  training.replaceAllUsesExcept(select.getResult(0), select);
  return select;
}

bool drawsInInference(NodeOp node) {
  return node.getDomain().value_or("").empty() &&
         llvm::StringSwitch<bool>(node.getOpType())
             .Cases({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"},
                    true)
             .Cases({"Bernoulli", "Multinomial"}, true)
             .Default(false);
}

/// Returns the nodes on which the outputs depend if each SelectByMode reads only operand
/// `selected`.
static llvm::DenseSet<Operation *> reachedNodes(GraphOp graph, size_t selected) {
  llvm::DenseSet<Operation *> reached;
  SmallVector<Operation *> stack{graph.getBody().front().getTerminator()};
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    auto visit = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      if (definition && reached.insert(definition).second)
        stack.push_back(definition);
    };
    if (auto node = dyn_cast<NodeOp>(op); node && isSelectByMode(node)) {
      visit(node.getInputs()[selected]);
      continue;
    }
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
  }
  return reached;
}

llvm::DenseSet<Operation *> nodesOfInference(GraphOp graph) { return reachedNodes(graph, 1); }

llvm::DenseSet<Operation *> nodesOnlyOfInference(GraphOp graph) {
  llvm::DenseSet<Operation *> nodes = nodesOfInference(graph);
  for (Operation *op : reachedNodes(graph, 0))
    nodes.erase(op);
  return nodes;
}

} // namespace mtc::onnx
