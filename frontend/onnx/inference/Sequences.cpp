//===- Sequences.cpp - Expansion of operators on sequences and optionals ----------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/Walk.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns the elements of the sequence that is operand 0.
FailureOr<SmallVector<Value>> Expander::elementsOf(Inference &node) {
  if (isSequence(node.operand(0)))
    return SmallVector<Value>(node.operand(0).getDefiningOp<NodeOp>().getInputs());
  return node.failure(node.operandName(0) +
                      " is not a sequence with elements known at compile time");
}

/// Returns an index operand in [-count, limit) of a sequence with `count` elements, normalized to
/// [0, limit).
FailureOr<int64_t> Expander::position(Inference &node, size_t operand, int64_t count, int64_t limit,
                                      int64_t byDefault) {
  if (!node.has(operand))
    return byDefault;
  if (!node.integerElements(operand))
    return failure();
  std::optional<SmallVector<int64_t>> known = node.constantInts(operand);
  if (!known)
    return node.needsConstant(operand);
  if (known->size() != 1)
    return node.failure(node.operandName(operand) + " holds " + Twine(known->size()) +
                        " integers, expected one");
  int64_t index = known->front();
  if (index < -count || index >= limit)
    return node.failure(node.operandName(operand) + " = " + Twine(index) +
                        ", but the sequence has " + Twine(count) + " elements");
  return index < 0 ? index + count : index;
}

Value Expander::createSequence(Inference &node, ValueRange elements) {
  builder.setInsertionPoint(node.op());
  auto sequence =
      NodeOp::create(builder, node.location(), {UnrankedTensorType::get(builder.getIndexType())},
                     builder.getStringAttr("Sequence"), builder.getI64IntegerAttr(1),
                     builder.getStringAttr("mtc"), builder.getDictionaryAttr({}), elements);
  created.insert(sequence);
  ++count;
  return sequence.getResult(0);
}

LogicalResult Expander::replaceBySequence(Inference &node, ValueRange elements) {
  return replace(node, createSequence(node, elements));
}

LogicalResult Expander::constructSequence(Inference &node) {
  for (size_t i = 1; i < node.operandCount(); ++i)
    if (!node.sameElementType(0, i))
      return failure();
  return replaceBySequence(node, node.op().getInputs());
}

LogicalResult Expander::insertElement(Inference &node) {
  FailureOr<SmallVector<Value>> elements = elementsOf(node);
  if (failed(elements))
    return failure();
  auto count = static_cast<int64_t>(elements->size());
  FailureOr<int64_t> index = position(node, 2, count, count + 1, count);
  if (failed(index))
    return failure();
  elements->insert(elements->begin() + *index, node.operand(1));
  return replaceBySequence(node, *elements);
}

LogicalResult Expander::eraseElement(Inference &node) {
  FailureOr<SmallVector<Value>> elements = elementsOf(node);
  if (failed(elements))
    return failure();
  auto count = static_cast<int64_t>(elements->size());
  if (count == 0)
    return node.failure("cannot erase an element of an empty sequence");
  FailureOr<int64_t> index = position(node, 1, count, count, count - 1);
  if (failed(index))
    return failure();
  elements->erase(elements->begin() + *index);
  return replaceBySequence(node, *elements);
}

LogicalResult Expander::selectElement(Inference &node) {
  FailureOr<SmallVector<Value>> elements = elementsOf(node);
  if (failed(elements))
    return failure();
  auto count = static_cast<int64_t>(elements->size());
  FailureOr<int64_t> index = position(node, 1, count, count, 0);
  if (failed(index))
    return failure();
  return replace(node, (*elements)[*index]);
}

LogicalResult Expander::measureSequence(Inference &node) {
  FailureOr<SmallVector<Value>> elements = elementsOf(node);
  if (failed(elements))
    return failure();
  return replace(node, createScalar(node, static_cast<int64_t>(elements->size())));
}

/// Expands SplitToSequence. Without a split operand, each element has extent 1 along the axis,
/// which `keepdims = 0` removes. A scalar is the extent of all elements; the last one may be
/// smaller. The standard ignores `keepdims` if there is a split operand, but PyTorch's exporter
/// writes `unbind` as a scalar of 1 with `keepdims = 0`, which onnxruntime obeys.
LogicalResult Expander::splitTensor(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  bool keepsAxis = node.flag("keepdims", true);
  if (node.failed())
    return failure();
  int64_t extent = node.dim(0, axis);
  SmallVector<int64_t> sizes;
  auto cut = [&](int64_t size) -> LogicalResult {
    if (size <= 0)
      return node.failure(node.operandName(1) + " = " + Twine(size) + ", expected 1 or more");
    if (extent / size > static_cast<int64_t>(maxExpandedNodes))
      return node.failure("creates " + Twine(extent / size) + " elements, expected at most " +
                          Twine(maxExpandedNodes));
    sizes.assign(extent / size, size);
    if (extent % size != 0)
      sizes.push_back(extent % size);
    return success();
  };
  if (!node.has(1)) {
    if (failed(cut(1)))
      return failure();
  } else {
    if (!node.integerElements(1) || !node.hasRank(1, 0, 1))
      return failure();
    std::optional<SmallVector<int64_t>> known = node.constantInts(1);
    if (!known)
      return node.needsConstant(1);
    sizes = *known;
    if (node.rank(1) == 0 && failed(cut(known->front())))
      return failure();
    keepsAxis |= node.rank(1) != 0 || known->front() != 1;
  }
  if (sizes.empty())
    return replaceBySequence(node, {});
  Value lengths = createInts(node, sizes);
  NodeOp split = create(node, "Split", 13, {node.operand(0), lengths}, intAttribute("axis", axis),
                        sizes.size());
  SmallVector<Value> elements(split.getOutputs());
  if (!keepsAxis) {
    Value axes = createInts(node, axis);
    for (Value &element : elements)
      element = create(node, "Squeeze", 13, {element, axes}, {}).getResult(0);
  }
  if (!keepsAxis && node.has(1))
    for (Value element : elements) {
      element.getDefiningOp()->setAttr(unboundAttribute, builder.getUnitAttr());
      walk.addUnbound(element);
    }
  return replaceBySequence(node, elements);
}

LogicalResult Expander::concatElements(Inference &node) {
  bool hasNewAxis = node.flag("new_axis", false);
  int64_t axis = node.integer("axis");
  FailureOr<SmallVector<Value>> elements = elementsOf(node);
  if (failed(elements) || node.failed())
    return failure();
  if (elements->empty())
    return node.failure("cannot concatenate an empty sequence");
  if (!hasNewAxis)
    return replace(node,
                   create(node, "Concat", 13, *elements, intAttribute("axis", axis)).getOutputs());
  auto type = dyn_cast<RankedTensorType>(elements->front().getType());
  if (!type)
    return node.failure("the elements are sequences, expected tensors");
  axis = node.normalized(axis, type.getRank() + 1, "attribute axis");
  if (node.failed())
    return failure();
  return replace(node, stack(node, *elements, axis));
}

/// Forwards the operand of Identity of a sequence, Optional and OptionalGetElement. Only Optional
/// may have no operand.
LogicalResult Expander::forwardOperand(Inference &node) {
  if (node.has(0))
    return replace(node, node.operand(0));
  builder.setInsertionPoint(node.op());
  auto none = NoneOp::create(builder, node.location(), builder.getNoneType());
  created.insert(none);
  return replace(node, none.getResult());
}

LogicalResult Expander::testOptional(Inference &node) {
  return replace(node, createFlag(node, node.has(0)));
}

/// Expands SequenceMap(sequence, additional operands...): inlines the body for each element of the
/// sequence and of further operands that are sequences. Each result is a sequence of the body's
/// outputs.
LogicalResult Expander::mapElements(Inference &node) {
  FailureOr<SmallVector<Value>> elements = elementsOf(node);
  if (failed(elements) ||
      failed(checkSignature(node, "body", node.operandCount(), node.resultCount())))
    return failure();
  for (size_t operand = 1; operand < node.operandCount(); ++operand)
    if (isSequence(node.operand(operand)) &&
        node.operand(operand).getDefiningOp<NodeOp>().getInputs().size() != elements->size())
      return node.failure(node.operandName(operand) + " has a different number of elements than " +
                          node.operandName(0));
  SmallVector<SmallVector<Value>> results(node.resultCount());
  for (size_t i = 0; i < elements->size(); ++i) {
    SmallVector<Value> arguments;
    for (Value operand : node.op().getInputs())
      arguments.push_back(isSequence(operand) ? operand.getDefiningOp<NodeOp>().getInputs()[i]
                                              : operand);
    ReturnOp values = inlineGraph(node, *node.graph("body"), arguments);
    if (!values)
      return failure();
    for (auto [list, value] : llvm::zip(results, values.getValues()))
      list.push_back(value);
  }
  SmallVector<Value> sequences;
  for (ArrayRef<Value> list : results)
    sequences.push_back(createSequence(node, list));
  return replace(node, sequences);
}

} // namespace mtc::onnx
