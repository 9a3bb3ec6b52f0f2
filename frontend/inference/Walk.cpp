//===- Walk.cpp - One forward walk that infers types, folds and expands -----------------------===//

#include "frontend/inference/Walk.h"

#include "frontend/dialect/Schema.h"
#include "frontend/dialect/Shapes.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

/// Whether the node's attributes are those of its operator; the first that is not is reported.
static bool hasRightAttributes(NodeOp op) {
  NodeView node(op);
  const Schema *schema = Schema::find(node.domain(), node.opType(), node.version());
  return !schema || succeeded(checkAttributes(node, *schema));
}

Walk::Walk(GraphOp graph, Effect effect)
    : graph(graph), effect(effect), declaredTypes(graph), expander(*this, graph.getContext()) {
  // Nodes that nobody reads are among them: attributes need no types.
  for (auto node : graph.getOps<NodeOp>())
    if (!hasRightAttributes(node))
      wrong.insert(node);
  problems = wrong.size();
}

LogicalResult Walk::run() {
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front()))
    if (auto node = dyn_cast<NodeOp>(op))
      visit(node);
  reportUnknownOperators();
  if (failed(checkResults()))
    ++problems;
  declaredTypes.report();
  expander.finish(graph);
  if (effect == Effect::ExpandOnly)
    restoreTypes();
  return success(problems == 0);
}

void Walk::materialize() {
  OpBuilder builder(graph.getContext());
  for (Operation &node : graph.getBody().front())
    for (Value value : node.getResults()) {
      auto found = foldedValues.find(value);
      if (found == foldedValues.end() || value.use_empty())
        continue;
      builder.setInsertionPoint(&node);
      DenseElementsAttr attribute = found->second.toAttribute();
      value.replaceAllUsesWith(
          ConstantOp::create(builder, node.getLoc(), attribute.getType(), attribute));
    }
  auto results = graph.getBody().front().getTerminator()->getOperandTypes();
  graph.setFunctionType(
      builder.getFunctionType(graph.getArgumentTypes(), SmallVector<Type>(results)));
}

void Walk::visitCreated(NodeOp node) {
  if (!hasRightAttributes(node))
    wrong.insert(node);
  visit(node);
}

std::optional<Tensor> Walk::lookup(Value value) {
  auto found = foldedValues.find(value);
  if (found != foldedValues.end())
    return found->second;
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  return constants.try_emplace(value, Tensor::fromAttribute(constant.getValue())).first->second;
}

/// Values that depend on this node are not looked at: one problem is reported once.
void Walk::poison(NodeOp node) {
  ++problems;
  unknown.insert(node.getOutputs().begin(), node.getOutputs().end());
}

void Walk::visit(NodeOp node) {
  if (wrong.contains(node) ||
      llvm::any_of(node.getInputs(), [&](Value input) { return unknown.contains(input); }))
    return poison(node);
  Inference inference(node, [this](Value value) { return lookup(value); });
  if (node.getNumResults() == 1 && isSequence(node.getResult(0)))
    return;
  if (Expander::expands(node)) {
    if (mlir::failed(checkOperands(inference)) || mlir::failed(expander.expand(inference)))
      poison(node);
    return;
  }
  const Operator *definition =
      Operators::get().find(inference.domain(), inference.opType(), inference.version());
  if (!definition || !definition->infer) {
    std::string name = (inference.domain().empty() ? "" : inference.domain() + ".").str() +
                       inference.opType().str();
    unknownOperators[{name, inference.version()}].push_back(node);
    return poison(node);
  }
  if (mlir::failed(checkOperands(inference)) || mlir::failed(infer(inference, *definition)) ||
      mlir::failed(declaredTypes.check(inference)))
    return poison(node);
  evaluate(inference, *definition);
  if (inference.failed())
    return poison(node);
  apply(inference);
}

LogicalResult Walk::checkOperands(Inference &node) {
  const Schema *schema = Schema::find(node.domain(), node.opType(), node.version());
  if (!schema)
    return node.failure("has no schema in this version");
  if (mlir::failed(checkArity(node, *schema)))
    return mlir::failure();
  bool takesSequences = Expander::expands(node.op());
  for (size_t i = 0; i < node.operandCount(); ++i) {
    if (!node.has(i))
      continue;
    if (isSequence(node.operand(i))) {
      if (takesSequences)
        continue;
      return node.failure(node.operandName(i) + " is a sequence, expected a tensor");
    }
    auto type = dyn_cast<RankedTensorType>(node.operand(i).getType());
    if (!type || !type.hasStaticShape())
      return node.failure(node.operandName(i) + " has type " +
                          llvm::to_string(node.operand(i).getType()) +
                          ", expected static dimensions");
    if (!isAddressable(type.getShape()))
      return node.failure(node.operandName(i) + " has shape " + shapeText(type.getShape()) +
                          ", more elements than memory can hold");
  }
  return takesSequences ? success() : checkElementTypes(node, *schema);
}

LogicalResult Walk::infer(Inference &node, const Operator &definition) {
  if (mlir::failed(definition.infer(node)) || node.failed())
    return node.failure("has no type by this operator's rule");
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i) && !node.resultType(i))
      return node.failure("names result " + Twine(i) + ", which the operator does not have");
  return success();
}

void Walk::evaluate(Inference &node, const Operator &definition) {
  if (!definition.evaluate)
    return;
  for (size_t i = 0; i < node.operandCount(); ++i) {
    std::optional<Tensor> operand = node.constant(i);
    if (node.has(i) && (!operand || operand->size() > maxFoldedElements))
      return;
  }
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i) && !Tensor::holds(node.resultType(i).getElementType()))
      return;
  definition.evaluate(node);
}

void Walk::apply(Inference &node) {
  bool allFolded = true;
  for (size_t i = 0; i < node.resultCount(); ++i) {
    if (!node.wants(i))
      continue;
    Value result = node.op().getOutputs()[i];
    std::optional<size_t> operand = node.forwarded(i);
    if (const std::optional<Tensor> &value = node.folded(i)) {
      assert(value->type() == node.resultType(i) && "a fold has the type inferred");
      foldedValues.insert({result, *value});
    } else if (effect == Effect::ExpandOnly && operand) {
      if (std::optional<Tensor> known = lookup(node.operand(*operand)))
        foldedValues.insert({result, *known});
    } else {
      allFolded = false;
    }
    if (effect == Effect::ExpandOnly)
      writtenTypes.try_emplace(result, result.getType());
    result.setType(node.resultType(i));
    if (operand && effect == Effect::InferAndFold)
      result.replaceAllUsesWith(node.operand(*operand));
  }
  if (allFolded && effect == Effect::InferAndFold)
    releaseOperands(node.op());
}

/// A folded node keeps nothing alive: values that only it used are freed.
void Walk::releaseOperands(NodeOp node) {
  SmallVector<Value> operands(node.getInputs());
  node.getInputsMutable().clear();
  for (Value operand : operands)
    if (operand.use_empty())
      foldedValues.erase(operand);
}

/// The graph's outputs are tensors.
LogicalResult Walk::checkResults() {
  for (auto [i, value] : llvm::enumerate(graph.getBody().front().getTerminator()->getOperands())) {
    if (!isSequence(value))
      continue;
    auto name = graph.getResultAttrOfType<StringAttr>(i, "onnx.name");
    return graph->emitError("output ") << (name ? "\"" + name.str() + "\"" : std::to_string(i))
                                       << " is a sequence, expected a tensor; let the model return "
                                          "the elements";
  }
  return success();
}

void Walk::restoreTypes() {
  for (auto node : graph.getOps<NodeOp>())
    for (Value result : node.getOutputs())
      if (auto written = writtenTypes.find(result); written != writtenTypes.end())
        result.setType(written->second);
}

void Walk::reportUnknownOperators() {
  for (auto &[key, nodes] : unknownOperators) {
    InFlightDiagnostic diagnostic = mlir::emitError(nodes.front()->getLoc())
                                    << "operator " << key.first << " version " << key.second
                                    << " is not known; " << nodes.size()
                                    << (nodes.size() == 1 ? " node uses it" : " nodes use it");
    for (auto [i, node] : llvm::enumerate(ArrayRef(nodes).take_front(8)))
      if (StringRef name = nodeName(node); !name.empty())
        diagnostic << (i == 0 ? ": \"" : ", \"") << name << "\"";
  }
}

} // namespace mtc::onnx
