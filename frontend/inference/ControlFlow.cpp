//===- ControlFlow.cpp - Expansion of If, Loop and Scan ---------------------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/inference/Expander.h"
#include "frontend/inference/Walk.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

LogicalResult Expander::checkSignature(Inference &node, StringRef name, size_t inputs,
                                       size_t outputs) {
  Region *graph = node.graph(name);
  if (!graph)
    return node.failure("attribute " + name + " is missing, expected a graph");
  auto check = [&](size_t count, size_t expected, StringRef what) -> LogicalResult {
    if (count == expected)
      return success();
    return node.failure("the graph " + name + " has " + Twine(count) + " " + what + ", expected " +
                        Twine(expected));
  };
  return success(
      succeeded(check(graph->getNumArguments(), inputs, "inputs")) &&
      succeeded(check(graph->front().getTerminator()->getNumOperands(), outputs, "outputs")));
}

/// Reports that a value must be known at compile time, with the graph inputs that it depends on.
static LogicalResult unknownValue(Inference &node, Value value, const Twine &what,
                                  const Twine &remedy) {
  SmallVector<std::string> names = dataSources(value);
  std::string reason = (what + " must be known at compile time, but depends on ").str();
  if (names.empty())
    return node.failure(reason + "weights; " + remedy);
  return node.failure(reason + "the data of " + llvm::join(names, ", ") + "; " + remedy +
                      ", or use --bind " + names.front() + "=VALUE");
}

FailureOr<std::optional<bool>> Expander::condition(Inference &node, Value value,
                                                   const Twine &what) {
  if (walk.isUnknown(value))
    return failure();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isInteger(1) || type.getNumElements() != 1)
    return node.failure(what + " has type " + llvm::to_string(value.getType()) +
                        ", expected one boolean");
  if (std::optional<Tensor> known = walk.lookup(value))
    return std::optional(known->value<int64_t>() != 0);
  if (walk.mayBecomeKnown(value))
    return node.failure(what + " depends on weights, which may become constants");
  return std::optional<bool>();
}

LogicalResult Expander::expandIf(Inference &node) {
  size_t results = node.resultCount();
  if (failed(checkSignature(node, "then_branch", 0, results)) ||
      failed(checkSignature(node, "else_branch", 0, results)))
    return failure();
  FailureOr<std::optional<bool>> isTaken = condition(node, node.operand(0), node.operandName(0));
  if (failed(isTaken))
    return failure();
  if (!*isTaken)
    return selectBranch(node);
  ReturnOp values = inlineGraph(node, *node.graph(**isTaken ? "then_branch" : "else_branch"), {});
  return values ? replace(node, values.getValues()) : failure();
}

/// Unrolls Loop(trip count?, condition?, carried values...) -> (final carried values, scan
/// outputs). The body maps (iteration, condition, carried values...) to (condition, carried values,
/// scan outputs). If the condition depends on data, all iterations up to the trip count are
/// computed, and each carried value keeps its last value once the condition is false.
LogicalResult Expander::expandLoop(Inference &node) {
  size_t carriedCount = node.operandCount() < 2 ? 0 : node.operandCount() - 2;
  if (node.resultCount() < carriedCount)
    return node.failure("has " + Twine(node.resultCount()) + " results, expected at least " +
                        Twine(carriedCount));
  if (failed(checkSignature(node, "body", carriedCount + 2, node.resultCount() + 1)))
    return failure();
  Region &body = *node.graph("body");
  StringRef remedy = "export the model with the loop unrolled (Keras: unroll=True; PyTorch: trace "
                     "the module, or loop over a Python range)";

  std::optional<int64_t> limit;
  if (node.has(0)) {
    std::optional<SmallVector<int64_t>> known = node.constantInts(0);
    if (!known)
      return unknownValue(node, node.operand(0), "the number of iterations", remedy);
    if (known->size() != 1)
      return node.failure(node.operandName(0) + " has shape " + shapeText(node.shape(0)) +
                          ", expected one element");
    limit = known->front();
  }
  bool hasCondition = node.has(1);
  if (!limit && !hasCondition)
    return node.failure("has neither a trip count nor a condition; expected at least one of them");
  bool goesOn = true;
  Value isActive; // Whether the next iteration takes place; null while this is known.
  auto readCondition = [&](Value value, const Twine &what) -> LogicalResult {
    FailureOr<std::optional<bool>> known = condition(node, value, what);
    if (failed(known))
      return failure();
    if (*known)
      goesOn = **known;
    else if (!limit || *limit > static_cast<int64_t>(maxExpandedNodes))
      return unknownValue(node, value, what, remedy + Twine(" or give it a maximum trip count"));
    else if (Value holds = createCondition(node, value); !isActive)
      isActive = holds;
    else
      isActive = create(node, "And", 7, {isActive, holds}, {}).getResult(0);
    return success();
  };
  if (hasCondition && failed(readCondition(node.operand(1), node.operandName(1))))
    return failure();
  Value flag = hasCondition ? node.operand(1) : createFlag(node, true);

  SmallVector<Value> carried(
      node.op().getInputs().drop_front(std::min<size_t>(2, node.operandCount())));
  SmallVector<SmallVector<Value>> scanned(node.resultCount() - carriedCount);
  bool isScanned = llvm::any_of(llvm::seq(carriedCount, node.resultCount()),
                                [&](size_t i) { return node.wants(i); });
  auto runBody = [&](int64_t iteration) -> ReturnOp {
    SmallVector<Value> arguments = {createScalar(node, iteration), flag};
    IRMapping mapping;
    if (isActive)
      gateCaptured(node, body, isActive, true, mapping);
    for (Value value : carried)
      arguments.push_back(isActive ? gate(node, isActive, value, true) : value);
    return inlineGraph(node, body, arguments, mapping);
  };
  int64_t iteration = 0;
  for (; goesOn && (!limit || iteration < *limit); ++iteration) {
    if (isActive && isScanned)
      return unknownValue(node, isActive, "the number of elements of its scan outputs", remedy);
    ReturnOp values = runBody(iteration);
    if (!values)
      return failure();
    for (auto [i, next] : llvm::enumerate(values.getValues().slice(1, carriedCount))) {
      FailureOr<Value> kept = next;
      if (isActive)
        kept = select(node, isActive, next, carried[i],
                      "carried value " + Twine(i) + " in iteration " + Twine(iteration));
      if (failed(kept))
        return failure();
      carried[i] = *kept;
    }
    for (auto [list, value] : llvm::zip(scanned, values.getValues().drop_front(1 + carriedCount)))
      list.push_back(value);
    if (hasCondition) {
      flag = values.getValues().front();
      if (failed(readCondition(flag, "the condition after iteration " + Twine(iteration))))
        return failure();
    }
  }

  // Without iterations, the types of the scan outputs are taken from one expansion of the body,
  // which is erased later.
  ReturnOp sample;
  if (iteration == 0 && isScanned) {
    sample = runBody(0);
    if (!sample)
      return failure();
  }
  SmallVector<Value> results = carried;
  for (auto [i, list] : llvm::enumerate(scanned))
    if (!node.wants(carriedCount + i))
      results.push_back(Value());
    else if (!sample)
      results.push_back(stack(node, list, 0));
    else if (Value value = sample.getValues()[1 + carriedCount + i]; isSequence(value))
      return node.failure("scan output " + Twine(i) + " is a sequence, expected a tensor");
    else
      results.push_back(createEmpty(node, value, 0));
  return replace(node, results);
}

Value Expander::createEmpty(Inference &node, Value element, int64_t axis) {
  auto type = cast<RankedTensorType>(element.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, 0);
  builder.setInsertionPoint(node.op());
  auto empty = DenseElementsAttr::get(RankedTensorType::get(shape, type.getElementType()),
                                      ArrayRef<Attribute>());
  auto constant = ConstantOp::create(builder, node.location(), empty.getType(), empty);
  created.insert(constant);
  return constant;
}

namespace {

/// The axes and directions of a Scan's inputs or outputs.
struct ScanLists {
  SmallVector<int64_t> axes;
  SmallVector<bool> areReversed;

  static FailureOr<ScanLists> read(Inference &node, StringRef kind, size_t count) {
    std::string axesName = ("scan_" + kind + "_axes").str();
    std::string directionsName = ("scan_" + kind + "_directions").str();
    ScanLists lists;
    lists.axes = node.integers(axesName, SmallVector<int64_t>(count, 0));
    SmallVector<int64_t> directions = node.integers(directionsName, SmallVector<int64_t>(count, 0));
    if (node.failed())
      return failure();
    if (lists.axes.size() != count || directions.size() != count)
      return node.failure("attributes " + axesName + " and " + directionsName + " have " +
                          Twine(lists.axes.size()) + " and " + Twine(directions.size()) +
                          " entries, expected " + Twine(count));
    for (int64_t direction : directions) {
      if (direction != 0 && direction != 1)
        return node.failure("attribute " + directionsName + " has an entry " + Twine(direction) +
                            ", expected 0 or 1");
      lists.areReversed.push_back(direction == 1);
    }
    return lists;
  }
};

} // namespace

/// Unrolls Scan(states..., scan inputs...) -> (final states, scan outputs). The body maps (states,
/// slices of the scan inputs) to (states, slices of the scan outputs).
LogicalResult Expander::expandScan(Inference &node) {
  if (node.version() < 9)
    return node.failure("version 8 has a batch axis and is not supported; convert the model to "
                        "opset 9 or later with onnx.version_converter");
  int64_t inputCount = node.integer("num_scan_inputs");
  if (node.failed())
    return failure();
  auto operands = static_cast<int64_t>(node.operandCount());
  if (inputCount < 1 || inputCount > operands)
    return node.failure("attribute num_scan_inputs = " + Twine(inputCount) + ", expected 1.." +
                        Twine(operands));
  size_t stateCount = operands - inputCount;
  if (node.resultCount() < stateCount)
    return node.failure("has " + Twine(node.resultCount()) + " results, expected at least " +
                        Twine(stateCount));
  size_t outputCount = node.resultCount() - stateCount;
  if (failed(checkSignature(node, "body", operands, node.resultCount())))
    return failure();
  FailureOr<ScanLists> inputs = ScanLists::read(node, "input", inputCount);
  FailureOr<ScanLists> outputs = ScanLists::read(node, "output", outputCount);
  if (failed(inputs) || failed(outputs))
    return failure();

  int64_t length = -1;
  for (int64_t i = 0; i < inputCount; ++i) {
    size_t operand = stateCount + i;
    auto type = dyn_cast<RankedTensorType>(node.operand(operand).getType());
    if (!type || !type.hasStaticShape() || isSequence(node.operand(operand)))
      return node.failure(node.operandName(operand) + " is not a tensor of static shape");
    inputs->axes[i] = node.normalized(inputs->axes[i], type.getRank(), "attribute scan_input_axes");
    if (node.failed())
      return failure();
    int64_t extent = type.getDimSize(inputs->axes[i]);
    if (length >= 0 && extent != length)
      return node.failure("scan inputs have " + Twine(length) + " and " + Twine(extent) +
                          " elements to scan, expected equal counts");
    length = extent;
  }

  SmallVector<Value> states(node.op().getInputs().take_front(stateCount));
  SmallVector<SmallVector<Value>> scanned(outputCount);
  auto runBody = [&](int64_t iteration) -> ReturnOp {
    SmallVector<Value> arguments = states;
    for (int64_t i = 0; i < inputCount; ++i) {
      Value index = createScalar(node, inputs->areReversed[i] ? length - 1 - iteration : iteration);
      arguments.push_back(create(node, "Gather", 13, {node.operand(stateCount + i), index},
                                 intAttribute("axis", inputs->axes[i]))
                              .getResult(0));
    }
    return inlineGraph(node, *node.graph("body"), arguments);
  };
  if (length == 0 && outputCount > 0)
    return node.failure("has no elements to scan, so its output shapes are unknown");
  for (int64_t iteration = 0; iteration < length; ++iteration) {
    ReturnOp values = runBody(iteration);
    if (!values)
      return failure();
    states = llvm::to_vector(values.getValues().take_front(stateCount));
    for (auto [list, value] : llvm::zip(scanned, values.getValues().drop_front(stateCount)))
      list.push_back(value);
  }

  SmallVector<Value> results = states;
  for (auto [i, list] : llvm::enumerate(scanned)) {
    if (!node.wants(stateCount + i)) {
      results.push_back(Value());
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(list.front().getType());
    if (!type)
      return node.failure("scan output " + Twine(i) + " is not a tensor");
    int64_t axis =
        node.normalized(outputs->axes[i], type.getRank() + 1, "attribute scan_output_axes");
    if (node.failed())
      return failure();
    if (outputs->areReversed[i])
      std::reverse(list.begin(), list.end());
    results.push_back(stack(node, list, axis));
  }
  return replace(node, results);
}

} // namespace mtc::onnx
