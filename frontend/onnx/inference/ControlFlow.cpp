//===- ControlFlow.cpp - Expansion of If and Scan ---------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/Walk.h"

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

FailureOr<Expander::ScanLists> Expander::ScanLists::read(Inference &node, StringRef kind,
                                                         size_t count) {
  // Opset 8 has only the directions of inputs, without a prefix.
  std::string prefix = kind.empty() ? "" : ("scan_" + kind + "_").str();
  std::string axesName = prefix + "axes", directionsName = prefix + "directions";
  ScanLists lists;
  lists.axes.assign(count, 0);
  if (!kind.empty())
    lists.axes = node.integers(axesName, lists.axes);
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

/// Returns the number of elements (`what`) that a Scan's operands from `first` on have along their
/// axes, which are normalized.
static FailureOr<int64_t> scanLength(Inference &node, size_t first, MutableArrayRef<int64_t> axes,
                                     StringRef what) {
  int64_t length = -1;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    size_t operand = first + i;
    auto type = dyn_cast<RankedTensorType>(node.operand(operand).getType());
    if (!type || !type.hasStaticShape() || isSequence(node.operand(operand)))
      return node.failure(node.operandName(operand) + " is not a tensor of static shape");
    axis = node.normalized(axis, type.getRank(), "attribute scan_input_axes");
    if (node.failed())
      return failure();
    int64_t extent = type.getDimSize(axis);
    if (length >= 0 && extent != length)
      return node.failure("scan inputs have " + Twine(length) + " and " + Twine(extent) + " " +
                          what + ", expected equal counts");
    length = extent;
  }
  return length;
}

Value Expander::sliceAt(Inference &node, Value value, int64_t index, int64_t axis) {
  return create(node, "Gather", 13, {value, createScalar(node, index)}, intAttribute("axis", axis))
      .getResult(0);
}

LogicalResult Expander::runScan(Inference &node, SmallVectorImpl<Value> &states, ValueRange inputs,
                                const ScanLists &lists, int64_t length,
                                MutableArrayRef<SmallVector<Value>> scanned) {
  for (int64_t iteration = 0; iteration < length; ++iteration) {
    SmallVector<Value> arguments = llvm::to_vector(states);
    for (auto [input, axis, isReversed] : llvm::zip(inputs, lists.axes, lists.areReversed))
      arguments.push_back(
          sliceAt(node, input, isReversed ? length - 1 - iteration : iteration, axis));
    ReturnOp values = inlineGraph(node, *node.graph("body"), arguments);
    if (!values)
      return failure();
    ValueRange results = values.getValues();
    llvm::copy(results.take_front(states.size()), states.begin());
    for (auto [list, value] : llvm::zip(scanned, results.drop_front(states.size())))
      list.push_back(value);
  }
  return success();
}

/// Unrolls Scan(states..., scan inputs...) -> (final states, scan outputs). The body maps (states,
/// slices of the scan inputs) to (states, slices of the scan outputs).
LogicalResult Expander::expandScan(Inference &node) {
  bool isBatched = node.version() < 9; // Operand 0 is the lengths of the sequences.
  int64_t inputCount = node.integer("num_scan_inputs");
  if (node.failed())
    return failure();
  auto operands = static_cast<int64_t>(node.operandCount()) - isBatched;
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
  if (isBatched)
    return expandBatchedScan(node, stateCount, inputCount);
  FailureOr<ScanLists> inputs = ScanLists::read(node, "input", inputCount);
  FailureOr<ScanLists> outputs = ScanLists::read(node, "output", outputCount);
  if (failed(inputs) || failed(outputs))
    return failure();
  FailureOr<int64_t> length = scanLength(node, stateCount, inputs->axes, "elements to scan");
  if (failed(length))
    return failure();
  if (*length == 0 && outputCount > 0)
    return node.failure("has no elements to scan, so its output shapes are unknown");
  OperandRange operandValues = node.op().getInputs();
  FailureOr<bool> isKept =
      keepLoop(node, /*isLoop=*/false, *length, operandValues.take_front(stateCount),
               operandValues.drop_front(stateCount), *inputs, *outputs,
               /*ignoresCondition=*/true);
  if (failed(isKept) || *isKept)
    return success(succeeded(isKept));
  SmallVector<Value> results(operandValues.take_front(stateCount));
  SmallVector<SmallVector<Value>> scanned(outputCount);
  if (failed(
          runScan(node, results, operandValues.drop_front(stateCount), *inputs, *length, scanned)))
    return failure();
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

/// Unrolls Scan of opset 8, whose operands and results have a batch axis before the scanned one.
/// Each sample is scanned on its own.
LogicalResult Expander::expandBatchedScan(Inference &node, size_t stateCount, size_t inputCount) {
  if (node.has(0))
    return node.failure(node.operandName(0) + " is not supported; pad the sequences, and convert "
                                              "the model to opset 9 or later");
  FailureOr<ScanLists> lists = ScanLists::read(node, "", inputCount);
  if (failed(lists))
    return failure();
  SmallVector<int64_t> axes(inputCount, 1), batchAxes(stateCount + inputCount, 0);
  FailureOr<int64_t> length = scanLength(node, 1 + stateCount, axes, "elements to scan");
  FailureOr<int64_t> batch = scanLength(node, 1, batchAxes, "samples");
  if (failed(length) || failed(batch))
    return failure();
  if (*length == 0 || *batch == 0)
    return node.failure("has no elements to scan, so its output shapes are unknown");
  SmallVector<SmallVector<Value>> results(node.resultCount());
  for (int64_t sample = 0; sample < *batch; ++sample) {
    SmallVector<Value> values;
    for (Value operand : node.op().getInputs().drop_front())
      values.push_back(sliceAt(node, operand, sample, 0));
    SmallVector<Value> states(ArrayRef(values).take_front(stateCount));
    SmallVector<SmallVector<Value>> scanned(node.resultCount() - stateCount);
    if (failed(runScan(node, states, ArrayRef(values).drop_front(stateCount), *lists, *length,
                       scanned)))
      return failure();
    for (ArrayRef<Value> list : scanned)
      states.push_back(stack(node, list, 0));
    for (auto [list, value] : llvm::zip(results, states))
      list.push_back(value);
  }
  SmallVector<Value> stacked;
  for (ArrayRef<Value> list : results)
    stacked.push_back(stack(node, list, 0));
  return replace(node, stacked);
}

} // namespace mtc::onnx
