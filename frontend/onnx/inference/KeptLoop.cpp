//===- KeptLoop.cpp - Loops that are not unrolled ---------------------------------------------===//

#include "frontend/onnx/inference/KeptLoop.h"

#include "frontend/onnx/inference/Walk.h"
#include "frontend/onnx/operators/Operators.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace mtc::onnx {

static RankedTensorType withoutAxis(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Returns the static type of a value, or null.
static RankedTensorType staticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && !isSequence(value) ? type : RankedTensorType();
}

/// Returns whether a node is executed once in a step, so that its loop must be unrolled.
static bool dependsOnStep(NodeOp node) {
  const Operator *definition =
      Operators::get().find(node.getDomain().value_or(""), node.getOpType(), node.getVersion());
  return definition && definition->dependsOnStep;
}

/// Returns whether the subgraph has neither initializers nor nodes that depend on the step.
bool KeptLoop::isRepeatable() {
  return !body.walk([](Operation *op) {
                auto node = dyn_cast<NodeOp>(op);
                return isa<InitializerOp>(op) || (node && dependsOnStep(node))
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Adds the arguments of the graph, and maps the subgraph's arguments to them.
LogicalResult KeptLoop::addArguments() {
  Block &block = graph->getBody().front();
  auto add = [&](Type type, Value from) {
    Value argument = block.addArgument(type, body.getLoc());
    if (from)
      mapping.map(from, argument);
  };
  auto arguments = body.getArguments();
  for (auto [i, state] : llvm::enumerate(states)) {
    RankedTensorType type = staticType(state);
    if (!type)
      return failure();
    add(type, arguments[isLoop ? 2 + i : i]);
  }
  for (auto [i, input] : llvm::enumerate(inputs)) {
    RankedTensorType type = staticType(input.value);
    if (!type)
      return failure();
    add(withoutAxis(type, input.axis), arguments[states.size() + i]);
  }
  if (!isLoop)
    return success();
  add(RankedTensorType::get({}, builder.getI64Type()), arguments[0]);
  inputs.push_back({});
  auto flag = RankedTensorType::get({}, builder.getI1Type());
  mapping.map(arguments[1],
              ConstantOp::create(builder, body.getLoc(), flag, DenseElementsAttr::get(flag, true)));
  return success();
}

/// Maps the values that the subgraph captures to constants or arguments of the graph.
LogicalResult KeptLoop::mapCaptured(Walk &walk) {
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(body, above);
  for (Value value : above) {
    if (isa<NoneType>(value.getType())) {
      mapping.map(value, NoneOp::create(builder, body.getLoc(), builder.getNoneType()));
      continue;
    }
    RankedTensorType type = staticType(value);
    if (!type || walk.isUnknown(value))
      return failure();
    if (std::optional<Tensor> known = walk.lookup(value)) {
      Type element = type.getElementType();
      ElementsAttr elements = known->toStoredAttribute();
      if (element.isInteger() && !element.isInteger(1)) // As Walk::materialize does.
        elements = known->toAttribute();
      mapping.map(value, ConstantOp::create(builder, body.getLoc(), type, elements));
      continue;
    }
    captured.push_back(value);
    mapping.map(value, graph->getBody().front().addArgument(type, body.getLoc()));
  }
  return success();
}

/// Gather(x, iteration) => a slice of x
void KeptLoop::readAtIteration() {
  Block &block = graph->getBody().front();
  const size_t first = states.size() + inputs.size();
  BlockArgument number = block.getArgument(first - 1);
  for (Operation *user : llvm::to_vector(number.getUsers())) {
    auto gather = dyn_cast<NodeOp>(user);
    if (!gather || !gather.isOperator("Gather") || gather.getInputs().size() != 2 ||
        gather.getInputs()[1] != number || gather->getParentRegion() != &graph->getBody())
      continue;
    auto source = dyn_cast<BlockArgument>(gather.getInputs()[0]);
    if (!source || source.getArgNumber() < states.size() + inputs.size())
      continue;
    auto type = cast<RankedTensorType>(source.getType());
    auto axisAttribute = gather.getNodeAttributes().getAs<IntegerAttr>("axis");
    int64_t axis = axisAttribute ? axisAttribute.getSInt() : 0;
    axis += axis < 0 ? type.getRank() : 0;
    if (axis < 0 || axis >= type.getRank() || type.getDimSize(axis) != iterations)
      continue;
    Value value = captured[source.getArgNumber() - states.size() - inputs.size()];
    BlockArgument slice =
        block.insertArgument(states.size() + inputs.size(), withoutAxis(type, axis), body.getLoc());
    inputs.push_back({value, axis, false});
    gather.getResult(0).replaceAllUsesWith(slice);
    gather.erase();
  }
}

/// Returns whether a value is the constant true.
static bool isTrue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.getElementType().isInteger(1) && elements.isSplat() &&
         elements.getSplatValue<bool>();
}

/// Checks the results of an iteration, and erases those without uses.
LogicalResult KeptLoop::checkResults(bool ignoresCondition) {
  Operation *end = graph->getBody().front().getTerminator();
  if (isLoop) {
    if (!ignoresCondition && !isTrue(end->getOperand(0)))
      return failure();
    end->eraseOperand(0);
  }
  for (auto [state, next] : llvm::zip(states, end->getOperands()))
    if (state.getType() != next.getType())
      return failure();
  for (Value output : end->getOperands().drop_front(states.size())) {
    RankedTensorType type = staticType(output);
    if (!type)
      return failure();
    outputTypes.push_back(type);
  }
  for (size_t i = areUsed.size(); i-- > 0;)
    if (!areUsed[i])
      end->eraseOperand(states.size() + i);
  return success();
}

void KeptLoop::eraseUnusedArguments() {
  Block &block = graph->getBody().front();
  const size_t ofInputs = states.size(), ofCaptured = ofInputs + inputs.size();
  for (size_t i = captured.size(); i-- > 0;)
    if (block.getArgument(ofCaptured + i).use_empty()) {
      block.eraseArgument(ofCaptured + i);
      captured.erase(captured.begin() + i);
    }
  for (size_t i = inputs.size(); i-- > 0;)
    if (block.getArgument(ofInputs + i).use_empty()) {
      block.eraseArgument(ofInputs + i);
      inputs.erase(inputs.begin() + i);
    }
}

LogicalResult KeptLoop::build(Walk &walk, bool ignoresCondition) {
  if (!isRepeatable())
    return failure();
  graph = GraphOp::create(builder, body.getLoc(), builder.getStringAttr("body"),
                          TypeAttr::get(builder.getFunctionType({}, {})), /*arg_attrs=*/nullptr,
                          /*res_attrs=*/nullptr);
  Block &block = graph->getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  if (failed(addArguments()) || failed(mapCaptured(walk)))
    return failure();
  for (Operation &op : body.front())
    builder.clone(op, mapping);
  if (isLoop)
    readAtIteration();
  graph->setFunctionType(builder.getFunctionType(block.getArgumentTypes(), {}));
  ScopedDiagnosticHandler silence(body.getContext(), [](Diagnostic &) { return success(); });
  OptionalOutputs optional(*graph);
  eraseDead(block);
  Walk own(*graph, optional, Walk::Effect::InferAndFold, /*unrollLimit=*/INT64_MAX);
  if (failed(own.run()))
    return failure();
  own.materialize();
  if (failed(checkResults(ignoresCondition)))
    return failure();
  eraseDead(block);
  eraseUnusedArguments();
  return success();
}

void KeptLoop::takeBody(Region &into) { into.takeBody(graph->getBody()); }

} // namespace mtc::onnx
