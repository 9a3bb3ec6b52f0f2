//===- OptionalOutputs.cpp - Removal of graph outputs that cannot be computed -----------------===//

#include "frontend/onnx/dialect/OptionalOutputs.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns the operations on which `values` depend, including those used in subgraphs.
static llvm::DenseSet<Operation *> ancestorsOf(ArrayRef<Value> values) {
  llvm::DenseSet<Operation *> found;
  SmallVector<Value> pending(values);
  while (!pending.empty())
    if (Operation *op = pending.pop_back_val().getDefiningOp(); op && found.insert(op).second)
      op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  return found;
}

static bool isOptional(GraphOp graph, unsigned result) {
  return bool(graph.getResultAttr(result, optionalAttribute));
}

OptionalOutputs::OptionalOutputs(GraphOp graph) : graph(graph) {
  SmallVector<Value> required, optional;
  Operation *terminator = graph.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    (isOptional(graph, i) ? optional : required).push_back(value);
  if (optional.empty())
    return;
  nodes = ancestorsOf(optional);
  for (Operation *op : ancestorsOf(required))
    nodes.erase(op);
}

LogicalResult OptionalOutputs::run(NodeOp node, llvm::function_ref<LogicalResult()> step) {
  if (!contains(node))
    return step();
  ScopedDiagnosticHandler handler(graph.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    reasons.try_emplace(node, Reason{diagnostic.getLocation(), diagnostic.str()});
    return success();
  });
  LogicalResult result = step();
  if (failed(result)) // A dependence on a failed node reports no error of its own.
    leaveOut(node, "");
  return result;
}

void OptionalOutputs::leaveOut(NodeOp node, const Twine &reason) {
  reasons.try_emplace(node, Reason{node.getLoc(), reason.str()});
}

void OptionalOutputs::leaveOutResult(unsigned result, const Twine &reason) {
  resultReasons.try_emplace(result, Reason{graph.getLoc(), reason.str()});
}

/// Marks inputs that only the removed outputs read.
static void markUnreadInputs(GraphOp graph, ArrayRef<Value> kept) {
  const llvm::DenseSet<Operation *> needed = ancestorsOf(kept);
  for (BlockArgument input : graph.getBody().front().getArguments()) {
    auto isNeeding = [&](Operation *user) {
      Operation *node = graph.getBody().front().findAncestorOpInBlock(*user);
      return needed.contains(node);
    };
    if (!input.use_empty() && llvm::none_of(input.getUsers(), isNeeding) &&
        !llvm::is_contained(kept, input))
      graph.setArgAttr(input.getArgNumber(), optionalAttribute, UnitAttr::get(graph.getContext()));
  }
}

void OptionalOutputs::removeOutputs() {
  if (!isAnyLeftOut())
    return;
  Builder builder(graph.getContext());
  Operation *terminator = graph.getBody().front().getTerminator();
  SmallVector<Value> kept;
  SmallVector<Attribute> attributes;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    const Reason *reason = nullptr;
    if (auto found = resultReasons.find(i); found != resultReasons.end()) {
      reason = &found->second;
    } else if (isOptional(graph, i)) {
      llvm::DenseSet<Operation *> ancestors = ancestorsOf({value});
      for (Operation &op : graph.getBody().front()) // The first failed node is the root cause.
        if (auto found = reasons.find(&op); !reason && found != reasons.end() &&
                                            !found->second.text.empty() && ancestors.contains(&op))
          reason = &found->second;
    }
    if (!reason) {
      kept.push_back(value);
      attributes.push_back(builder.getDictionaryAttr(graph.getResultAttrs(i)));
      continue;
    }
    auto name = graph.getResultAttrOfType<StringAttr>(i, "onnx.name");
    emitRemark(reason->location) << "the output '" << (name ? name.getValue() : StringRef())
                                 << "' is omitted: " << reason->text;
  }
  markUnreadInputs(graph, kept);
  terminator->setOperands(kept);
  SmallVector<Type> types(ValueRange(kept).getTypes());
  graph.setFunctionType(builder.getFunctionType(graph.getArgumentTypes(), types));
  graph.setResAttrsAttr(builder.getArrayAttr(attributes));
}

} // namespace mtc::onnx
