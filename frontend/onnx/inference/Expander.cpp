//===- Expander.cpp - Expansion of control flow and sequences ---------------------------------===//

#include "frontend/onnx/inference/Expander.h"

#include "frontend/onnx/inference/Walk.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace mtc::onnx {

bool isSequence(Value value) {
  auto node = value.getDefiningOp<NodeOp>();
  return node && node.getDomain() == "mtc" && node.getOpType() == "Sequence";
}

Expander::Function Expander::functionOf(NodeOp node) {
  StringRef domain = node.getDomain().value_or("");
  if (domain.empty() && node.isOperator("Identity") && node.getInputs().size() == 1 &&
      isSequence(node.getInputs().front()))
    return &Expander::forwardOperand;
  return functionOf(domain, node.getOpType());
}

Expander::Function Expander::functionOf(StringRef domain, StringRef opType) {
  if (domain == "ai.onnx.preview" && opType == "FlexAttention")
    return &Expander::expandFlexAttention;
  if (!domain.empty())
    return nullptr;
  return llvm::StringSwitch<Function>(opType)
      .Case("If", &Expander::expandIf)
      .Case("Loop", &Expander::expandLoop)
      .Case("Scan", &Expander::expandScan)
      .Cases({"SequenceConstruct", "SequenceEmpty"}, &Expander::constructSequence)
      .Case("SequenceInsert", &Expander::insertElement)
      .Case("SequenceErase", &Expander::eraseElement)
      .Case("SequenceAt", &Expander::selectElement)
      .Case("SequenceLength", &Expander::measureSequence)
      .Case("SequenceMap", &Expander::mapElements)
      .Case("SplitToSequence", &Expander::splitTensor)
      .Cases({"Optional", "OptionalGetElement"}, &Expander::forwardOperand)
      .Case("OptionalHasElement", &Expander::testOptional)
      .Case("ConcatFromSequence", &Expander::concatElements)
      .Default(nullptr);
}

LogicalResult Expander::expand(Inference &node) {
  llvm::SaveAndRestore<size_t> before(problemsBefore, walk.problemCount());
  return (this->*functionOf(node.op()))(node);
}

void Expander::finish(GraphOp graph) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
    if ((created.contains(&op) || obsolete.contains(&op)) && op.use_empty())
      op.erase();
  created.clear();
  obsolete.clear();
}

ReturnOp Expander::inlineGraph(Inference &node, Region &graph, ValueRange arguments,
                               IRMapping mapping) {
  mapping.map(graph.getArguments(), arguments);
  builder.setInsertionPoint(node.op());
  SmallVector<Operation *> clones;
  for (Operation &op : graph.front())
    clones.push_back(builder.clone(op, mapping));
  count += clones.size();
  created.insert(clones.begin(), clones.end());
  auto results = cast<ReturnOp>(clones.pop_back_val());
  // Nodes without users are not visited.
  llvm::DenseSet<Operation *> dead;
  for (Operation *op : llvm::reverse(clones))
    if (op->use_empty()) {
      op->dropAllReferences();
      dead.insert(op);
    }
  if (count > maxExpandedNodes) {
    (void)node.failure("its subgraphs expand to more than " + Twine(maxExpandedNodes) +
                       " nodes; reduce the number of iterations");
    return {};
  }
  size_t before = walk.problemCount();
  for (Operation *op : clones)
    if (auto clone = dyn_cast<NodeOp>(op); clone && !dead.contains(op))
      walk.visitCreated(clone);
  return walk.problemCount() == before ? results : ReturnOp();
}

NodeOp Expander::create(Inference &node, StringRef op, int64_t version, ValueRange inputs,
                        Attributes attributes, size_t results) {
  builder.setInsertionPoint(node.op());
  SmallVector<Type> types(results, UnrankedTensorType::get(builder.getIndexType()));
  auto made = NodeOp::create(builder, node.location(), types, builder.getStringAttr(op),
                             builder.getI64IntegerAttr(version), /*domain=*/nullptr,
                             builder.getDictionaryAttr(attributes), inputs);
  for (StringRef name : {moduleAttribute, fxOperatorAttribute, argumentsAttribute, rulesAttribute})
    if (Attribute known = node.op()->getAttr(name))
      made->setAttr(name, known);
  created.insert(made);
  ++count;
  walk.visitCreated(made);
  return made;
}

Value Expander::createConstant(Inference &node, const Tensor &value) {
  builder.setInsertionPoint(node.op());
  DenseElementsAttr attribute = value.toAttribute();
  auto constant = ConstantOp::create(builder, node.location(), attribute.getType(), attribute);
  created.insert(constant);
  return constant;
}

Value Expander::createFlag(Inference &node, bool value) {
  auto type = RankedTensorType::get({}, builder.getI1Type());
  return createConstant(node, *Tensor::fromValues<int64_t>(type, value));
}

Value Expander::createInts(Inference &node, ArrayRef<int64_t> values) {
  return createConstant(node, Tensor::fromInts(node.context(), values));
}

Value Expander::createScalar(Inference &node, int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return createConstant(node, *Tensor::fromValues<int64_t>(type, value));
}

Value Expander::stack(Inference &node, ArrayRef<Value> values, int64_t axis) {
  Value axes = createInts(node, axis);
  SmallVector<Value> parts;
  for (Value value : values)
    parts.push_back(create(node, "Unsqueeze", 13, {value, axes}, {}).getResult(0));
  if (parts.size() == 1)
    return parts.front();
  return create(node, "Concat", 13, parts, intAttribute("axis", axis)).getResult(0);
}

NamedAttribute Expander::intAttribute(StringRef name, int64_t value) {
  Type type = builder.getIntegerType(64, /*isSigned=*/true);
  return builder.getNamedAttr(name, builder.getIntegerAttr(type, value));
}

LogicalResult Expander::replace(Inference &node, ValueRange values) {
  if (walk.problemCount() != problemsBefore)
    return failure(); // The error of the created node has been reported.
  bool areTensors = true;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (!node.wants(i) || !value)
      continue;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (walk.isUnknown(value) || !type || !type.hasStaticShape())
      areTensors = false;
    else if (failed(node.result(i, type)))
      return failure();
  }
  if (areTensors && failed(walk.checkDeclared(node)))
    return failure();
  for (auto [result, value] : llvm::zip(node.op().getOutputs(), values))
    if (value)
      result.replaceAllUsesWith(value);
  obsolete.insert(node.op());
  return success();
}

} // namespace mtc::onnx
