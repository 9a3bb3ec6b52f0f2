//===- RuntimeConditions.cpp - If and Loop whose conditions depend on data --------------------===//
//
// All values of a program have static types and every node is computed, so both branches of an If
// are computed and their results are selected: y = condition ? then : else. Each floating-point
// value that enters a branch passes a gate, whose gradient is 0 unless the branch is taken. Without
// gates, a branch that is not taken could contribute NaN, as 0 · ∞ (the square root of a negative
// number).
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/Walk.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns the values of outer graphs that a subgraph uses.
static SetVector<Value> capturedValues(Region &graph) {
  SetVector<Value> captured;
  graph.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!graph.isAncestor(operand.getParentRegion()))
        captured.insert(operand);
  });
  return captured;
}

Value Expander::gate(Inference &node, Value condition, Value value, bool isTaken) {
  if (isSequence(value)) {
    SmallVector<Value> elements;
    for (Value element : value.getDefiningOp<NodeOp>().getInputs())
      elements.push_back(gate(node, condition, element, isTaken));
    return createSequence(node, elements);
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || walk.lookup(value))
    return value;
  builder.setInsertionPoint(node.op());
  auto gate =
      NodeOp::create(builder, node.location(), {type}, builder.getStringAttr(gateOperator),
                     builder.getI64IntegerAttr(1), builder.getStringAttr("mtc"),
                     builder.getDictionaryAttr(intAttribute("taken", isTaken)), {condition, value});
  created.insert(gate);
  ++count;
  return gate.getResult(0);
}

void Expander::gateCaptured(Inference &node, Region &graph, Value condition, bool isTaken,
                            IRMapping &mapping) {
  for (Value value : capturedValues(graph))
    mapping.map(value, gate(node, condition, value, isTaken));
}

Value Expander::createCondition(Inference &node, Value value) {
  if (cast<RankedTensorType>(value.getType()).getRank() == 0)
    return value;
  return create(node, "Reshape", 13, {value, createInts(node, {})}, {}).getResult(0);
}

FailureOr<Value> Expander::select(Inference &node, Value condition, Value then, Value otherwise,
                                  const Twine &what) {
  if (then == otherwise)
    return then;
  auto differ = [&](const Twine &difference) {
    return node.failure(what + " " + difference +
                        ", expected equal types because the condition depends on data; export the "
                        "model without this branch");
  };
  if (isSequence(then) && isSequence(otherwise)) {
    OperandRange left = then.getDefiningOp<NodeOp>().getInputs();
    OperandRange right = otherwise.getDefiningOp<NodeOp>().getInputs();
    if (left.size() != right.size())
      return differ("is a sequence of " + Twine(left.size()) + " or " + Twine(right.size()) +
                    " elements");
    SmallVector<Value> elements;
    for (auto [a, b] : llvm::zip(left, right)) {
      FailureOr<Value> element = select(node, condition, a, b, "an element of " + what);
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    return createSequence(node, elements);
  }
  if (walk.isUnknown(then) || walk.isUnknown(otherwise))
    return failure();
  auto type = dyn_cast<RankedTensorType>(then.getType());
  if (!type || then.getType() != otherwise.getType() || isSequence(then) || isSequence(otherwise)) {
    auto text = [](Value value) {
      return isSequence(value) ? "a sequence" : llvm::to_string(value.getType());
    };
    return differ("is " + Twine(text(then)) + " or " + text(otherwise));
  }
  return create(node, "Where", 16, {condition, then, otherwise}, {}).getResult(0);
}

LogicalResult Expander::selectBranch(Inference &node) {
  Value condition = createCondition(node, node.operand(0));
  auto run = [&](StringRef name, bool isTaken) {
    IRMapping mapping;
    gateCaptured(node, *node.graph(name), condition, isTaken, mapping);
    return inlineGraph(node, *node.graph(name), {}, mapping);
  };
  ReturnOp then = run("then_branch", true), otherwise = run("else_branch", false);
  if (!then || !otherwise)
    return failure();
  SmallVector<Value> results;
  for (size_t i = 0; i < node.resultCount(); ++i) {
    if (!node.wants(i)) {
      results.push_back(Value());
      continue;
    }
    FailureOr<Value> result = select(node, condition, then.getValues()[i], otherwise.getValues()[i],
                                     "result " + Twine(i));
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return replace(node, results);
}

} // namespace mtc::onnx
