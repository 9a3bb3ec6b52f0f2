//===- NodeImporter.cpp - Import of nodes with inlining of functions --------------------------===//

#include "frontend/onnx/reader/NodeImporter.h"

#include "frontend/onnx/dialect/BatchNormalization.h"
#include "frontend/onnx/inference/DeclaredTypes.h"
#include "frontend/onnx/reader/NodeNames.h"

#include "onnx-ml.pb.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

void NodeImporter::importGraph(const ::onnx::GraphProto &graph, const BitVector &optionalNodes) {
  StringMap<int64_t> opsets = opsetsOf(model.proto().opset_import());
  AttributeBindings noAttributes;
  Frame frame{nullptr, values, opsets, noAttributes, "", 0, &optionalNodes};
  importNodes(graph.node(), frame);
}

Value NodeImporter::lookup(StringRef name) {
  StringMap<int64_t> opsets;
  AttributeBindings noAttributes;
  Frame frame{nullptr, values, opsets, noAttributes, "", 0};
  return valueOf(frame, name);
}

ArrayAttr NodeImporter::stringsOf(ArrayRef<std::string> texts) {
  return builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(texts));
}

template <typename Nodes> void NodeImporter::importNodes(const Nodes &nodes, Frame &frame) {
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (count > maxNodes)
      return;
    if (++count > maxNodes) {
      problems->add("the model has more than " + Twine(maxNodes) +
                    " nodes after its functions are inlined");
      return;
    }
    bool isNamedAfterOwner = frame.isSubgraph() && isUnnamed(node);
    std::string name =
        (isNamedAfterOwner ? frame.owner + "/" : frame.prefix) + displayName(node, index);
    std::string label = nodeLabel(node, index);
    if (frame.isSubgraph())
      label += frame.where;
    else if (!frame.isMain())
      label += ", inlined at " + quoted(StringRef(frame.prefix).drop_back());
    Entry entry{node, static_cast<int64_t>(index), std::move(name), std::move(label)};
    if (frame.isMain() && frame.optionalNodes->test(index))
      importOptional(entry, frame);
    else
      importEntry(entry, frame);
  }
}

void NodeImporter::importEntry(const Entry &entry, Frame &frame) {
  for (const std::string &input : entry.node.input())
    if (std::string why = whyUnavailable(input, frame); !why.empty())
      problems->add(entry.label + ": " + why);
  if (const ::onnx::FunctionProto *function = functions.find(entry.node))
    inlineCall(entry, *function, frame);
  else if (isOperator(entry.node, "Constant"))
    importConstantNode(entry, frame);
  else
    importNode(entry, frame);
}

/// Imports a node that only optional outputs depend on. If it has problems, its operations are
/// erased and its results become unavailable.
void NodeImporter::importOptional(const Entry &entry, Frame &frame) {
  std::string why;
  for (const auto *names : {&entry.node.input(), &entry.node.output()})
    for (const std::string &name : *names)
      if (why.empty())
        why = whyUnavailable(name);
  if (why.empty()) {
    Problems own, *outer = std::exchange(problems, &own);
    llvm::StringSet<> domains = unimportedDomains;
    Block &block = *builder.getInsertionBlock();
    Operation *last = block.empty() ? nullptr : &block.back();
    importEntry(entry, frame);
    problems = outer;
    if (own.empty())
      return;
    why = own.get().front();
    unimportedDomains = std::move(domains);
    while (!block.empty() && &block.back() != last) {
      if (noneValue && noneValue.getDefiningOp() == &block.back())
        noneValue = {};
      block.back().erase();
    }
  }
  for (const std::string &output : entry.node.output()) {
    frame.values.erase(output);
    if (!output.empty())
      setUnavailable(output, why);
  }
}

std::string NodeImporter::whyUnavailable(StringRef name, const Frame &frame) const {
  for (const Frame *scope = &frame; scope; scope = scope->outer)
    if (scope->isMain())
      return whyUnavailable(name);
    else if (scope->values.contains(name))
      break;
  return "";
}

DenseI64ArrayAttr NodeImporter::pathOf(const Entry &entry, const Frame &frame) {
  std::vector<int64_t> path = frame.path;
  path.push_back(entry.index);
  return builder.getDenseI64ArrayAttr(path);
}

StringRef NodeImporter::frameworkOf(NodeOp batchNorm) const {
  if (batchNorm.getInputs().size() > 4)
    if (InitializerOp variance = runningStatistic(batchNorm, 4);
        variance && variance.getName().contains(kerasVariables))
      return kerasFramework;
  bool isPyTorch = metadata.listsParameters() || model.proto().producer_name() == "pytorch";
  return isPyTorch ? StringRef(pytorchFramework) : "";
}

void NodeImporter::describe(Operation *op, const Entry &entry, const Frame &frame) {
  auto describeAs = [&](StringRef attribute, StringRef text) {
    if (!text.empty())
      op->setAttr(attribute, builder.getStringAttr(text));
  };
  describeAs(moduleAttribute, metadata.modulePathOf(entry.node));
  describeAs(fxOperatorAttribute, ExporterMetadata::operatorOf(entry.node));
  describeAs(rulesAttribute, ExporterMetadata::rulesOf(entry.node));
  if (std::vector<std::string> arguments = metadata.argumentsOf(entry.node); !arguments.empty())
    op->setAttr(argumentsAttribute, stringsOf(arguments));
  if (isOperator(entry.node, "Identity") && ExporterMetadata::isDetached(entry.node))
    op->setAttr(detachedAttribute, builder.getUnitAttr());
  if (isOperator(entry.node, "BatchNormalization"))
    describeAs(frameworkAttribute, frameworkOf(cast<NodeOp>(op)));
  if (ExporterMetadata::isInNoGrad(entry.node))
    op->setAttr(noGradAttribute, builder.getUnitAttr());
  if (isOperator(entry.node, "Identity")) {
    describeAs(updateAttribute, ExporterMetadata::updateOf(entry.node));
    describeAs(settingAttribute, ExporterMetadata::settingOf(entry.node));
  }
  if (isOperator(entry.node, "Gather"))
    if (std::optional<int64_t> row = metadata.paddingIndexOf(entry.node))
      op->setAttr(paddingAttribute, builder.getI64IntegerAttr(*row));
  if (isOperator(entry.node, "SoftmaxCrossEntropyLoss"))
    if (std::optional<double> smoothing = metadata.labelSmoothingOf(entry.node))
      op->setAttr(labelSmoothingAttribute, builder.getF64FloatAttr(*smoothing));
  if (!frame.path.empty())
    op->setAttr(pathAttribute, pathOf(entry, frame));
  if (!frame.isMain())
    return;
  op->setAttr(indexAttribute, builder.getI64IntegerAttr(entry.index));
  op->setAttr(resultsAttribute,
              builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(entry.node.output())));
}

void NodeImporter::importConstantNode(const Entry &entry, Frame &frame) {
  const auto &[node, index, name, label] = entry;
  if (node.output_size() != 1 || node.input_size() != 0) {
    problems->add(label + " has " + Twine(node.input_size()) + " inputs and " +
                  Twine(node.output_size()) + " outputs, expected none and one");
    return;
  }
  DenseElementsAttr value =
      importConstant(model, node, frame.attributes, label, builder.getContext(), *problems);
  if (!value)
    return;
  auto constant =
      ConstantOp::create(builder, locationOf(name, node.name()), value.getType(), value);
  frame.values[node.output(0)] = constant;
  if (isa<FloatType>(value.getElementType()) && constantTensor(node))
    describe(constant, entry, frame);
  if (frame.isMain())
    checkDeclared(node.output(0), cast<RankedTensorType>(value.getType()), label);
}

void NodeImporter::declare(StringRef name, TensorType type) {
  auto entry = declared.try_emplace(name, type).first;
  TensorType known = entry->second;
  if (known.getElementType() != type.getElementType())
    problems->add("value " + quoted(name) + " is declared as " + to_string(known) + " and as " +
                  to_string(type));
  if (!known.hasRank())
    entry->second = type;
}

void NodeImporter::checkDeclared(StringRef name, RankedTensorType type, const Twine &label) {
  mlir::Type said = declared.lookup(name);
  if (compareDeclared(said, type) != TypeDifference::None)
    problems->add(label + " " + describeDifference(said, type));
}

void NodeImporter::importSubgraphs(const Entry &entry, NodeOp node, Frame &frame) {
  size_t next = 0;
  for (auto [index, attribute] : llvm::enumerate(entry.node.attribute())) {
    if (const ::onnx::AttributeProto *given = resolve(attribute, frame.attributes);
        given && given != &attribute && given->has_g())
      problems->add("attribute " + quoted(attribute.name()) + " of " + entry.label +
                    " is a graph passed by the function's caller, which is not supported");
    if (!attribute.has_g())
      continue;
    Values inner;
    Frame body{&frame,       inner,
               frame.opsets, frame.attributes,
               frame.prefix, frame.depth,
               nullptr,      {},
               entry.name,   ", in " + quoted(attribute.name()) + " of " + entry.label};
    if (frame.isInMain()) {
      body.path = frame.path;
      body.path.insert(body.path.end(), {entry.index, static_cast<int64_t>(index)});
    }
    importSubgraph(attribute.g(), node.getGraphs()[next++], body);
  }
}

void NodeImporter::importSubgraph(const ::onnx::GraphProto &graph, Region &region, Frame &frame) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = region.emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  for (const ::onnx::TensorProto &initializer : graph.initializer())
    frame.values[initializer.name()] = subgraphInitializers.lookup(&initializer);
  for (const auto &input : graph.input())
    if (!frame.values.contains(input.name()))
      frame.values[input.name()] =
          block.addArgument(unknownType(), locationOf(input.name(), input.name()));
  importNodes(graph.node(), frame);
  if (!frame.path.empty()) {
    for (const ::onnx::TensorProto &initializer : graph.initializer())
      subgraphNames.push_back(initializer.name());
    for (const auto &input : graph.input())
      subgraphNames.push_back(input.name());
    for (const ::onnx::NodeProto &node : graph.node())
      subgraphNames.insert(subgraphNames.end(), node.output().begin(), node.output().end());
  }
  SmallVector<Value> results;
  for (const auto &output : graph.output()) {
    if (std::string why = whyUnavailable(output.name(), frame); !why.empty())
      problems->add("output " + quoted(output.name()) + frame.where + ": " + why);
    results.push_back(valueOf(frame, output.name()));
  }
  ReturnOp::create(builder, builder.getUnknownLoc(), results);
}

/// Returns whether the node is expanded later, so that other nodes will read its operands.
static bool isExpanded(const ::onnx::NodeProto &node) {
  return isOperator(node, "Loop") || isOperator(node, "Scan") ||
         (normalizedDomain(node.domain()).empty() &&
          StringRef(node.op_type()).contains("Sequence"));
}

void NodeImporter::importNode(const Entry &entry, Frame &frame) {
  const auto &[node, index, name, label] = entry;
  std::optional<int64_t> version = versionOf(node, label, frame);
  NodeAttributes attributes =
      importAttributes(model, node, frame.attributes, label, builder.getContext(), *problems);
  if (!version)
    return;
  SmallVector<Value> inputs;
  for (auto [operand, input] : llvm::enumerate(node.input()))
    inputs.push_back(input.empty()      ? none()
                     : isExpanded(node) ? enter(entry, operand, frame)
                                        : valueOf(frame, input));
  SmallVector<mlir::Type> types;
  for (const std::string &output : node.output()) {
    TensorType hint = frame.isMain() ? declared.lookup(output) : TensorType();
    types.push_back(output.empty() ? mlir::Type(builder.getNoneType())
                                   : mlir::Type(hint ? hint : unknownType()));
  }
  StringRef domain = normalizedDomain(node.domain());
  SmallVector<StringRef> graphNames;
  for (const ::onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g())
      graphNames.push_back(attribute.name());
  auto op = NodeOp::create(
      builder, locationOf(name, node.name()), types, builder.getStringAttr(node.op_type()),
      builder.getI64IntegerAttr(*version), domain.empty() ? nullptr : builder.getStringAttr(domain),
      attributes.values, inputs, graphNames.empty() ? nullptr : builder.getStrArrayAttr(graphNames),
      graphNames.size());
  if (!attributes.unsupported.empty())
    op->setAttr("unsupported_attributes", attributes.unsupported);
  importSubgraphs(entry, op, frame);
  describe(op, entry, frame);
  for (auto [output, value] : llvm::zip(node.output(), op.getOutputs()))
    if (!output.empty())
      frame.values[output] = value;
}

/// Returns whether a value is an initializer, possibly through Identity nodes.
static bool isInitializer(Value value) {
  while (auto node = value.getDefiningOp<NodeOp>()) {
    if (!node.isOperator("Identity") || node.getInputs().size() != 1)
      return false;
    value = node.getInputs().front();
  }
  return isa_and_nonnull<InitializerOp>(value.getDefiningOp());
}

Value NodeImporter::enter(const Entry &entry, size_t operand, Frame &frame) {
  Value value = valueOf(frame, entry.node.input(static_cast<int>(operand)));
  if (!frame.isInMain() || !isInitializer(value))
    return value;
  // Export redirects the operand of the original node, not the uses inside its expansion.
  auto entrance = NodeOp::create(builder, locationOf(entry.name, entry.node.name()),
                                 value.getType(), builder.getStringAttr("Identity"),
                                 builder.getI64IntegerAttr(frame.opsets.lookup("")),
                                 /*domain=*/nullptr, builder.getDictionaryAttr({}), value);
  if (frame.isMain())
    entrance->setAttr(indexAttribute, builder.getI64IntegerAttr(entry.index));
  else
    entrance->setAttr(pathAttribute, pathOf(entry, frame));
  entrance->setAttr(operandAttribute, builder.getI64IntegerAttr(static_cast<int64_t>(operand)));
  return entrance.getResult(0);
}

void NodeImporter::inlineCall(const Entry &entry, const ::onnx::FunctionProto &function,
                              Frame &frame) {
  const auto &[node, position, name, label] = entry;
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
    problems->add(label + " calls function " + quoted(function.name()) + " with " +
                  Twine(node.input_size()) + " inputs and " + Twine(node.output_size()) +
                  " outputs; expected at most " + Twine(function.input_size()) + " and " +
                  Twine(function.output_size()));
    return;
  }
  if (frame.depth >= FunctionTable::maxDepth) {
    problems->add(label + ": calls of functions nest more than " + Twine(FunctionTable::maxDepth) +
                  " deep");
    return;
  }

  AttributeBindings attributes;
  for (const ::onnx::AttributeProto &byDefault : function.attribute_proto())
    attributes[byDefault.name()] = &byDefault;
  for (const ::onnx::AttributeProto &attribute : node.attribute())
    if (const ::onnx::AttributeProto *resolved = resolve(attribute, frame.attributes))
      attributes[attribute.name()] = resolved;

  Values inner;
  for (auto [index, input] : llvm::enumerate(function.input())) {
    bool isGiven =
        static_cast<int>(index) < node.input_size() && !node.input(static_cast<int>(index)).empty();
    inner[input] = isGiven ? enter(entry, index, frame) : none();
  }
  StringMap<int64_t> opsets = opsetsOf(function.opset_import());
  Frame body{nullptr, inner, opsets, attributes, name + "/", frame.depth + 1};
  importNodes(function.node(), body);
  for (auto [output, result] : llvm::zip(node.output(), function.output()))
    if (!output.empty())
      frame.values[output] = valueOf(body, result);
}

template <typename Imports> StringMap<int64_t> NodeImporter::opsetsOf(const Imports &imports) {
  StringMap<int64_t> opsets;
  for (const auto &import : imports)
    opsets[normalizedDomain(import.domain())] = import.version();
  return opsets;
}

std::optional<int64_t> NodeImporter::versionOf(const ::onnx::NodeProto &node,
                                               const std::string &label, Frame &frame) {
  StringRef domain = normalizedDomain(node.domain());
  if (auto found = frame.opsets.find(domain); found != frame.opsets.end())
    return found->second;
  // Report a missing domain once, at its first node.
  if (unimportedDomains.insert(domain).second)
    problems->add(label + ": the " + (frame.isInMain() ? "model" : "function") +
                  " imports no opset of domain " + quoted(domain.empty() ? "ai.onnx" : domain));
  return std::nullopt;
}

Value NodeImporter::valueOf(Frame &frame, StringRef name) {
  for (const Frame *scope = &frame; scope; scope = scope->outer)
    if (Value value = scope->values.lookup(name))
      return value;
  // The missing node has been reported. A placeholder allows the import to find further problems.
  Value &value = frame.values[name];
  value = NodeOp::create(builder, builder.getUnknownLoc(), mlir::TypeRange{unknownType()},
                         builder.getStringAttr("Unknown"), builder.getI64IntegerAttr(0), nullptr,
                         builder.getDictionaryAttr({}), ValueRange{})
              .getResult(0);
  return value;
}

Value NodeImporter::none() {
  if (noneValue)
    return noneValue;
  // The value is created in the main graph, so that subgraphs can use it too.
  OpBuilder::InsertionGuard guard(builder);
  while (auto node = dyn_cast<NodeOp>(builder.getInsertionBlock()->getParentOp()))
    builder.setInsertionPoint(node);
  noneValue = NoneOp::create(builder, builder.getUnknownLoc(), builder.getNoneType());
  return noneValue;
}

Location NodeImporter::locationOf(const std::string &name, const std::string &original) {
  Location inner = original.empty() || original == name
                       ? Location(builder.getUnknownLoc())
                       : Location(NameLoc::get(builder.getStringAttr(original)));
  return NameLoc::get(builder.getStringAttr(name), inner);
}

} // namespace mtc::onnx
