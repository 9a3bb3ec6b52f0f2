//===- Walk.cpp - Forward walk for type inference, folding and expansion ----------------------===//

#include "frontend/onnx/inference/Walk.h"

#include "frontend/onnx/dialect/Modes.h"
#include "frontend/onnx/dialect/Schema.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "support/terminal/suggestions.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    const bool isState = op.hasAttr(updateAttribute) || op.hasAttr(updatedAttribute);
    if (isa<NodeOp, ConstantOp, NoneOp, InitializerOp>(op) && op.use_empty() && !isState) {
      op.erase();
      continue;
    }
    for (Region &graph : op.getRegions())
      eraseDead(graph.front());
  }
}

static LogicalResult checkAllAttributes(NodeOp op) {
  NodeView node(op);
  const Schema *schema = Schema::find(node.domain(), node.opType(), node.version());
  return schema ? checkAttributes(node, *schema) : success();
}

/// Returns a suggestion for an unknown operator, based on the tools that write its domain. The text
/// begins with `; `.
static std::string suggestReplacement(StringRef domain, StringRef opType) {
  if (domain == "com.microsoft")
    return "; written by onnxruntime's optimizer. Use the unoptimized model, or optimize it with "
           "ORT_ENABLE_BASIC";
  if (domain == "ai.onnx.ml")
    return "; of classical models, only linear models and neural networks are supported";
  if (domain == "ai.onnx.training" || domain == "ai.onnx.preview.training")
    return "; mtc adds gradients and updates. Use the inference model";
  if (domain == "org.pytorch.aten" || domain == "aten")
    return "; PyTorch's exporter has no translation for it. Export with dynamo=True";
  if (!domain.empty())
    return "; define it as a model-local function, or export the model without it";
  if (Schema::find(domain, opType, INT64_MAX))
    return "";
  std::string near = terminal::suggestNames(opType, Operators::get().convertedNames());
  return near.empty() ? "; not an ONNX operator" : near;
}

Walk::Walk(GraphOp graph, OptionalOutputs &optional, Effect effect, int64_t unrollLimit)
    : graph(graph), optional(optional), effect(effect), declaredTypes(graph),
      expander(*this, graph.getContext(), unrollLimit) {
  // Attributes are checked for dead nodes too, since this needs no types.
  for (auto node : graph.getOps<NodeOp>())
    if (mlir::failed(optional.run(node, [&] { return checkAllAttributes(node); }))) {
      wrong.insert(node);
      failed |= !optional.contains(node);
    }
}

LogicalResult Walk::run() {
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front())) {
    current = dyn_cast<NodeOp>(op);
    if (current && mlir::failed(optional.run(current, [&] { return visit(current); })))
      poison(current);
  }
  reportUnknownOperators();
  failed |= mlir::failed(checkResults());
  declaredTypes.report();
  expander.finish(graph);
  if (effect == Effect::ExpandOnly)
    restoreTypes();
  return success(!failed);
}

void Walk::materialize() {
  OpBuilder builder(graph.getContext());
  // Values that share their storage share an attribute, whose creation reads all elements.
  llvm::DenseMap<std::tuple<const char *, Type, Type>, DenseElementsAttr> attributes;
  for (Operation &node : graph.getBody().front())
    for (Value value : node.getResults()) {
      auto found = foldedValues.find(value);
      if (found == foldedValues.end() || value.use_empty())
        continue;
      builder.setInsertionPoint(&node);
      const Tensor &folded = found->second;
      // Conversions read integers, such as indices, in the shape of the operand.
      const bool isInteger = folded.type().getElementType().isInteger() &&
                             !folded.type().getElementType().isInteger(1);
      DenseElementsAttr &attribute =
          attributes[{folded.bytes().data(), folded.type(), folded.storedType()}];
      if (!attribute)
        attribute = isInteger ? folded.toAttribute() : folded.toStoredAttribute();
      value.replaceAllUsesWith(
          ConstantOp::create(builder, node.getLoc(), folded.type(), attribute));
    }
  auto results = graph.getBody().front().getTerminator()->getOperandTypes();
  graph.setFunctionType(
      builder.getFunctionType(graph.getArgumentTypes(), SmallVector<Type>(results)));
}

void Walk::visitCreated(NodeOp node) {
  if (mlir::failed(checkAllAttributes(node)) || mlir::failed(visit(node)))
    poison(node);
}

std::optional<Tensor> Walk::lookup(Value value) {
  auto found = foldedValues.find(value);
  if (found != foldedValues.end())
    return found->second;
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  return constants.try_emplace(value, Tensor::fromAttribute(constant.getValue(), type))
      .first->second;
}

/// Marks the results of an invalid node, so that dependent nodes report no further errors.
void Walk::poison(NodeOp node) {
  ++problems;
  failed |= !optional.contains(current);
  unknown.insert(node.getOutputs().begin(), node.getOutputs().end());
}

LogicalResult Walk::visit(NodeOp node) {
  if (wrong.contains(node))
    return mlir::failure();
  if (node.getNumResults() == 1 && isSequence(node.getResult(0)))
    return success();
  if (isGate(node)) { // Of the first walk, whose types are not kept.
    node.getResult(0).setType(node.getInputs()[1].getType());
    return success();
  }
  if (isSelectByMode(node))
    return visitSelectByMode(node);
  if (isScan(node)) // Its types are known when it is created.
    return success();
  Inference inference(node, [this](Value value) { return lookup(value); });
  const Operator *definition =
      Operators::get().find(inference.domain(), inference.opType(), inference.version());
  if (!Expander::expands(node) && (!definition || !definition->infer))
    return addUnknownOperator(inference);
  if (llvm::any_of(node.getInputs(), [&](Value input) { return unknown.contains(input); }) ||
      mlir::failed(checkOperands(inference)))
    return mlir::failure();
  if (Expander::expands(node))
    return expander.expand(inference);
  if (mlir::failed(infer(inference, *definition)) || mlir::failed(declaredTypes.check(inference)))
    return mlir::failure();
  evaluate(inference, *definition);
  if (inference.failed())
    return mlir::failure();
  apply(inference);
  return success();
}

/// The exporter or the pass that created the node chose values of one type.
LogicalResult Walk::visitSelectByMode(NodeOp node) {
  Value training = node.getInputs()[0], inference = node.getInputs()[1];
  if (unknown.contains(training) || unknown.contains(inference))
    return mlir::failure();
  if (training.getType() != inference.getType())
    return node.emitError("has type ")
           << training.getType() << " in training and type " << inference.getType()
           << " in inference; expected one type. Export the module again with mtc.export";
  if (effect == Effect::ExpandOnly)
    writtenTypes.try_emplace(node.getResult(0), node.getResult(0).getType());
  node.getResult(0).setType(training.getType());
  return success();
}

static std::string unknownText(const std::pair<std::string, std::string> &key, int64_t version) {
  const auto &[domain, opType] = key;
  return ("operator " + (domain.empty() ? "" : domain + ".") + opType + " version " +
          Twine(version) +
          (Schema::find(domain, opType, version) ? " is not supported" : " is unknown"))
      .str();
}

/// Records an unknown operator. Operand types are not needed, so all unknown operators are reported
/// together.
LogicalResult Walk::addUnknownOperator(const NodeView &node) {
  std::pair<std::string, std::string> key{node.domain().str(), node.opType().str()};
  if (optional.contains(current))
    optional.leaveOut(current, unknownText(key, node.version()));
  else
    unknownOperators[{key, node.version()}].push_back(node.op());
  return mlir::failure();
}

/// Returns whether operand `i` of an expanded node may be a sequence. The element types of a schema
/// only describe tensors.
static bool mayBeSequence(NodeView &node, const Schema &schema, size_t i) {
  return node.opType() == "Identity" || node.opType().starts_with("Optional") ||
         !schema.elementTypes.contains(schema.operands.find(i)->typeParameter);
}

LogicalResult Walk::checkOperands(Inference &node) {
  const Schema *schema = Schema::find(node.domain(), node.opType(), node.version());
  if (!schema)
    return node.failure("has no schema for this version");
  if (mlir::failed(checkArity(node, *schema)))
    return mlir::failure();
  bool isExpanded = Expander::expands(node.op());
  for (size_t i = 0; i < node.operandCount(); ++i) {
    if (!node.has(i))
      continue;
    if (isSequence(node.operand(i))) {
      if (isExpanded && mayBeSequence(node, *schema, i))
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
  return isExpanded ? success() : checkElementTypes(node, *schema);
}

LogicalResult Walk::infer(Inference &node, const Operator &definition) {
  if (mlir::failed(definition.infer(node)) || node.failed())
    return node.failure("type inference failed");
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i) && !node.resultType(i))
      return node.failure("has result " + Twine(i) + ", which the operator does not define");
  return success();
}

void Walk::evaluate(Inference &node, const Operator &definition) {
  if (!definition.evaluate)
    return;
  for (size_t i = 0; i < node.operandCount(); ++i) {
    std::optional<Tensor> operand = node.storedConstant(i);
    if (node.has(i) && (!operand || operand->size() > maxFoldedElements))
      return;
  }
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i) && !Tensor::holds(node.resultType(i).getElementType()))
      return;
  folds.fold(node, definition.evaluate);
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

/// Drops the operands of a folded node, and frees folded values that have no other uses.
void Walk::releaseOperands(NodeOp node) {
  SmallVector<Value> operands(node.getInputs());
  node.getInputsMutable().clear();
  for (Value operand : operands)
    if (operand.use_empty())
      foldedValues.erase(operand);
}

/// Requires the graph's outputs to be tensors, not sequences.
LogicalResult Walk::checkResults() {
  for (auto [i, value] : llvm::enumerate(graph.getBody().front().getTerminator()->getOperands())) {
    if (!isSequence(value))
      continue;
    StringRef problem = "is a sequence, expected a tensor; change the model to return its elements";
    if (graph.getResultAttr(i, optionalAttribute)) {
      optional.leaveOutResult(i, problem);
      continue;
    }
    auto name = graph.getResultAttrOfType<StringAttr>(i, "onnx.name");
    return graph->emitError("output ")
           << (name ? "\"" + name.str() + "\"" : std::to_string(i)) << " " << problem;
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
    const auto &[name, version] = key;
    InFlightDiagnostic diagnostic = mlir::emitError(nodes.front()->getLoc())
                                    << unknownText(name, version) << "; " << nodes.size()
                                    << (nodes.size() == 1 ? " node uses it" : " nodes use it");
    StringRef separator = ": ";
    for (NodeOp node : ArrayRef(nodes).take_front(8))
      if (StringRef label = nodeName(node); !label.empty()) {
        diagnostic << separator << "\"" << label << "\"";
        separator = ", ";
      }
    diagnostic << suggestReplacement(name.first, name.second);
  }
}

} // namespace mtc::onnx
