//===- InferAndFold.cpp - Types of all values, and values known at compile time ---------------===//

#include "frontend/Suggestions.h"
#include "frontend/dialect/OptionalOutputs.h"
#include "frontend/dialect/Schema.h"
#include "frontend/dialect/Shapes.h"
#include "frontend/inference/DeclaredTypes.h"
#include "frontend/inference/Passes.h"
#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/ScopedPrinter.h"

#include <map>

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_INFERANDFOLDPASS
#include "frontend/inference/Passes.h.inc"

namespace {

/// Removes operations whose results nobody uses, in one walk from the end.
void eraseDead(GraphOp graph) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
    if (isa<NodeOp, ConstantOp, NoneOp, InitializerOp>(op) && op.use_empty())
      op.erase();
}

/// Inputs must be static before anything else can be known.
LogicalResult checkArguments(GraphOp graph) {
  bool ok = true;
  for (BlockArgument argument : graph.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && type.hasStaticShape())
      continue;
    ok = false;
    auto name = graph.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name");
    InFlightDiagnostic diagnostic = graph->emitError("input ");
    if (name)
      diagnostic << "\"" << name.getValue() << "\"";
    else
      diagnostic << argument.getArgNumber();
    diagnostic << " has type " << argument.getType()
               << ", expected static dimensions; bind them with --dim NAME=EXTENT";
    if (auto dims = graph.getArgAttr(argument.getArgNumber(), "onnx.dims"))
      diagnostic << " (the file names them " << dims << ")";
  }
  return success(ok);
}

/// The nodes whose attributes are not those of their operators, reported. Nodes that nobody reads
/// are among them: attributes need no types.
llvm::DenseSet<NodeOp> checkAllAttributes(GraphOp graph, OptionalOutputs &optional) {
  llvm::DenseSet<NodeOp> wrong;
  for (auto op : graph.getOps<NodeOp>()) {
    NodeView node(op);
    const Schema *schema = Schema::find(node.domain(), node.opType(), node.version());
    if (schema && failed(optional.run(op, [&] { return checkAttributes(node, *schema); })))
      wrong.insert(op);
  }
  return wrong;
}

/// What to do about an unknown operator, by what writes its domain; begins with `; `.
std::string suggestReplacement(StringRef domain, StringRef opType) {
  // Onnxruntime has this operator in the standard's domain.
  if (domain == "com.microsoft" || (domain.empty() && opType == "SimplifiedLayerNormalization"))
    return "; onnxruntime's optimizer writes it: use the model before it was optimized, or "
           "optimize "
           "it with ORT_ENABLE_BASIC";
  if (domain == "ai.onnx.ml")
    return "; of classical models, linear ones and neural networks can be trained";
  if (domain == "ai.onnx.training" || domain == "ai.onnx.preview.training")
    return "; mtc adds gradients and updates itself: use the model for inference";
  if (domain == "org.pytorch.aten" || domain == "aten")
    return "; PyTorch's exporter had no translation: export with dynamo=True";
  if (!domain.empty())
    return "; define it as a function of the model, or export the model without it";
  if (Schema::find(domain, opType, INT64_MAX))
    return "";
  std::string near = suggestNames(opType, Operators::get().convertedNames());
  return near.empty() ? "; ONNX has no operator of this name" : near;
}

/// The forward walk.
class Walk {
public:
  /// `wrong` are nodes that have been reported.
  Walk(GraphOp graph, llvm::DenseSet<NodeOp> wrong, OptionalOutputs &optional)
      : graph(graph), wrong(std::move(wrong)), optional(optional), declaredTypes(graph) {}

  /// Infers and folds; failure, all problems reported, leaves types half inferred.
  LogicalResult run() {
    for (Operation &op : graph.getBody().front())
      if (auto node = dyn_cast<NodeOp>(op))
        if (mlir::failed(optional.run(node, [&] { return visit(node); })))
          poison(node);
    reportUnknownOperators();
    declaredTypes.report();
    return success(!failed);
  }

  /// Makes operations of the folded values that are still used, and gives the graph its new result
  /// types.
  void materialize() {
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

private:
  std::optional<Tensor> lookup(Value value) {
    auto found = foldedValues.find(value);
    if (found != foldedValues.end())
      return found->second;
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!constant)
      return std::nullopt;
    return constants.try_emplace(value, Tensor::fromAttribute(constant.getValue())).first->second;
  }

  /// Values that depend on this node are not looked at: one problem is reported once.
  void poison(NodeOp node) {
    failed |= !optional.contains(node);
    unknown.insert(node.getOutputs().begin(), node.getOutputs().end());
  }

  LogicalResult visit(NodeOp node) {
    if (wrong.contains(node))
      return mlir::failure();
    Inference inference(node, [this](Value value) { return lookup(value); });
    const Operator *definition =
        Operators::get().find(inference.domain(), inference.opType(), inference.version());
    if (!definition || !definition->infer)
      return addUnknownOperator(inference);
    if (llvm::any_of(node.getInputs(), [&](Value input) { return unknown.contains(input); }))
      return mlir::failure();
    if (mlir::failed(checkOperands(inference)) || mlir::failed(infer(inference, *definition)) ||
        mlir::failed(declaredTypes.check(inference)))
      return mlir::failure();
    evaluate(inference, *definition);
    if (inference.failed())
      return mlir::failure();
    apply(inference);
    return success();
  }

  /// An operator is unknown whatever the types of its operands are: all are reported at once.
  LogicalResult addUnknownOperator(const NodeView &node) {
    std::pair<std::string, std::string> key{node.domain().str(), node.opType().str()};
    if (optional.contains(node.op()))
      optional.leaveOut(node.op(), unknownText(key, node.version()));
    else
      unknownOperators[{key, node.version()}].push_back(node.op());
    return mlir::failure();
  }

  static std::string unknownText(const std::pair<std::string, std::string> &key, int64_t version) {
    const auto &[domain, opType] = key;
    return ("operator " + (domain.empty() ? "" : domain + ".") + opType + " version " +
            Twine(version) + " is not known")
        .str();
  }

  LogicalResult checkOperands(Inference &node) {
    const Schema *schema = Schema::find(node.domain(), node.opType(), node.version());
    if (!schema)
      return node.failure("has no schema in this version");
    if (mlir::failed(checkArity(node, *schema)))
      return mlir::failure();
    for (size_t i = 0; i < node.operandCount(); ++i) {
      if (!node.has(i))
        continue;
      auto type = dyn_cast<RankedTensorType>(node.operand(i).getType());
      if (!type || !type.hasStaticShape())
        return node.failure(node.operandName(i) + " has type " +
                            llvm::to_string(node.operand(i).getType()) +
                            ", expected static dimensions");
      if (!isAddressable(type.getShape()))
        return node.failure(node.operandName(i) + " has shape " + shapeText(type.getShape()) +
                            ", more elements than memory can hold");
    }
    return checkElementTypes(node, *schema);
  }

  LogicalResult infer(Inference &node, const Operator &definition) {
    if (mlir::failed(definition.infer(node)) || node.failed())
      return node.failure("has no type by this operator's rule");
    for (size_t i = 0; i < node.resultCount(); ++i)
      if (node.wants(i) && !node.resultType(i))
        return node.failure("names result " + Twine(i) + ", which the operator does not have");
    return success();
  }

  void evaluate(Inference &node, const Operator &definition) {
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

  void apply(Inference &node) {
    bool allFolded = true;
    for (size_t i = 0; i < node.resultCount(); ++i) {
      if (!node.wants(i))
        continue;
      Value result = node.op().getOutputs()[i];
      if (const std::optional<Tensor> &value = node.folded(i)) {
        assert(value->type() == node.resultType(i) && "a fold has the type inferred");
        foldedValues.insert({result, *value});
      } else {
        allFolded = false;
      }
      result.setType(node.resultType(i));
      if (std::optional<size_t> operand = node.forwarded(i))
        result.replaceAllUsesWith(node.operand(*operand));
    }
    if (allFolded)
      releaseOperands(node.op());
  }

  /// A folded node keeps nothing alive: values that only it used are freed.
  void releaseOperands(NodeOp node) {
    SmallVector<Value> operands(node.getInputs());
    node.getInputsMutable().clear();
    for (Value operand : operands)
      if (operand.use_empty())
        foldedValues.erase(operand);
  }

  void reportUnknownOperators() {
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

  GraphOp graph;
  llvm::DenseSet<NodeOp> wrong;
  OptionalOutputs &optional;
  DeclaredTypes declaredTypes;
  llvm::DenseMap<Value, Tensor> foldedValues;
  llvm::DenseMap<Value, std::optional<Tensor>> constants; ///< Of `onnx.constant` operations.
  llvm::DenseSet<Value> unknown;
  /// By domain and operator, and version.
  std::map<std::pair<std::pair<std::string, std::string>, int64_t>, SmallVector<NodeOp>>
      unknownOperators;
  bool failed = false;
};

class InferAndFold : public impl::InferAndFoldPassBase<InferAndFold> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    OptionalOutputs optional(graph);
    llvm::DenseSet<NodeOp> wrong = checkAllAttributes(graph, optional);
    bool areAttributesRight =
        llvm::all_of(wrong, [&](NodeOp node) { return optional.contains(node); });
    eraseDead(graph);
    if (failed(checkArguments(graph)))
      return signalPassFailure();
    Walk walk(graph, std::move(wrong), optional);
    if (failed(walk.run()) || !areAttributesRight)
      return signalPassFailure();
    optional.removeOutputs();
    walk.materialize();
    eraseDead(graph);
  }
};

} // namespace
} // namespace mtc::onnx
