//===- Loop.cpp - Expansion of Loop -----------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/Walk.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mtc::onnx {

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

/// Unrolls Loop(trip count?, condition?, carried values...) -> (final carried values, scan
/// outputs). The body maps (iteration, condition, carried values...) to (condition, carried values,
/// scan outputs). If the condition depends on data, all iterations up to the trip count are
/// computed, and each carried value keeps its last value once the condition is false.
class Expander::LoopUnroller {
public:
  LoopUnroller(Expander &expander, Inference &node)
      : expander(expander), node(node),
        carriedCount(node.operandCount() < 2 ? 0 : node.operandCount() - 2),
        hasCondition(node.has(1)) {}

  LogicalResult run();

private:
  LogicalResult readLimit();
  LogicalResult readCondition(Value value, const Twine &what);
  FailureOr<bool> keep();
  ReturnOp runBody(int64_t iteration);
  LogicalResult unroll(int64_t iteration);
  LogicalResult finish();
  size_t scanCount() { return node.resultCount() - carriedCount; }
  /// Returns whether a scan output is used.
  bool scans() {
    return llvm::any_of(llvm::seq(carriedCount, node.resultCount()),
                        [&](size_t i) { return node.wants(i); });
  }
  OperandRange initialValues() {
    return node.op().getInputs().drop_front(std::min<size_t>(2, node.operandCount()));
  }

  static constexpr llvm::StringLiteral remedy =
      "export the model with the loop unrolled (Keras: unroll=True; PyTorch: trace the module, or "
      "loop over a Python range)";

  Expander &expander;
  Inference &node;
  const size_t carriedCount;
  const bool hasCondition;
  std::optional<int64_t> limit;
  int64_t iterations = 0; ///< Unrolled so far.
  bool goesOn = true;
  Value isActive; ///< Whether the next iteration takes place; null while this is known.
  Value flag;     ///< The condition operand of the next iteration.
  SmallVector<Value> carried;
  SmallVector<SmallVector<Value>> scanned;
};

/// Reads the trip count, if there is one.
LogicalResult Expander::LoopUnroller::readLimit() {
  if (!node.has(0))
    return success();
  std::optional<SmallVector<int64_t>> known = node.constantInts(0);
  if (!known)
    return unknownValue(node, node.operand(0), "the number of iterations", remedy);
  if (known->size() != 1)
    return node.failure(node.operandName(0) + " has shape " + shapeText(node.shape(0)) +
                        ", expected one element");
  limit = known->front();
  return success();
}

/// Sets `goesOn`, or `isActive` for a condition that depends on data.
LogicalResult Expander::LoopUnroller::readCondition(Value value, const Twine &what) {
  FailureOr<std::optional<bool>> known = expander.condition(node, value, what);
  if (failed(known))
    return failure();
  if (*known)
    goesOn = **known;
  else if (!limit || *limit > static_cast<int64_t>(maxExpandedNodes))
    return unknownValue(node, value, what, remedy + Twine(" or give it a maximum trip count"));
  else if (Value holds = expander.createCondition(node, value); !isActive)
    isActive = holds;
  else
    isActive = expander.create(node, "And", 7, {isActive, holds}, {}).getResult(0);
  return success();
}

/// Keeps a loop of a known number of iterations, if possible.
FailureOr<bool> Expander::LoopUnroller::keep() {
  if (!limit || !goesOn || isActive)
    return false;
  const size_t outputs = scanCount();
  ScanLists none, stacked{SmallVector<int64_t>(outputs, 0), SmallVector<bool>(outputs, false)};
  return expander.keepLoop(node, /*isLoop=*/true, *limit, initialValues(), {}, none, stacked,
                           /*ignoresCondition=*/!hasCondition);
}

ReturnOp Expander::LoopUnroller::runBody(int64_t iteration) {
  Region &body = *node.graph("body");
  SmallVector<Value> arguments = {expander.createScalar(node, iteration), flag};
  IRMapping mapping;
  if (isActive)
    expander.gateCaptured(node, body, isActive, true, mapping);
  for (Value value : carried)
    arguments.push_back(isActive ? expander.gate(node, isActive, value, true) : value);
  return expander.inlineGraph(node, body, arguments, mapping);
}

LogicalResult Expander::LoopUnroller::unroll(int64_t iteration) {
  ReturnOp values = runBody(iteration);
  if (!values)
    return failure();
  for (auto [i, next] : llvm::enumerate(values.getValues().slice(1, carriedCount))) {
    FailureOr<Value> kept = next;
    if (isActive)
      kept = expander.select(node, isActive, next, carried[i],
                             "carried value " + Twine(i) + " in iteration " + Twine(iteration));
    if (failed(kept))
      return failure();
    carried[i] = *kept;
  }
  for (auto [list, value] : llvm::zip(scanned, values.getValues().drop_front(1 + carriedCount)))
    list.push_back(value);
  if (!hasCondition)
    return success();
  flag = values.getValues().front();
  return readCondition(flag, "the condition after iteration " + Twine(iteration));
}

/// Replaces the results by the carried values and the stacked scan outputs.
LogicalResult Expander::LoopUnroller::finish() {
  // Without iterations, the types of the scan outputs are taken from one expansion of the body,
  // which is erased later.
  ReturnOp sample;
  if (iterations == 0 && scans()) {
    sample = runBody(0);
    if (!sample)
      return failure();
  }
  SmallVector<Value> results = carried;
  for (auto [i, list] : llvm::enumerate(scanned))
    if (!node.wants(carriedCount + i))
      results.push_back(Value());
    else if (!sample)
      results.push_back(expander.stack(node, list, 0));
    else if (Value value = sample.getValues()[1 + carriedCount + i]; isSequence(value))
      return node.failure("scan output " + Twine(i) + " is a sequence, expected a tensor");
    else
      results.push_back(expander.createEmpty(node, value, 0));
  return expander.replace(node, results);
}

LogicalResult Expander::LoopUnroller::run() {
  if (node.resultCount() < carriedCount)
    return node.failure("has " + Twine(node.resultCount()) + " results, expected at least " +
                        Twine(carriedCount));
  if (failed(checkSignature(node, "body", carriedCount + 2, node.resultCount() + 1)) ||
      failed(readLimit()))
    return failure();
  if (!limit && !hasCondition)
    return node.failure("has neither a trip count nor a condition; expected at least one of them");
  if (hasCondition && failed(readCondition(node.operand(1), node.operandName(1))))
    return failure();
  FailureOr<bool> isKept = keep();
  if (failed(isKept) || *isKept)
    return success(succeeded(isKept));
  flag = hasCondition ? node.operand(1) : expander.createFlag(node, true);
  carried.assign(initialValues().begin(), initialValues().end());
  scanned.resize(scanCount());
  for (; goesOn && (!limit || iterations < *limit); ++iterations) {
    if (isActive && scans())
      return unknownValue(node, isActive, "the number of elements of its scan outputs", remedy);
    if (failed(unroll(iterations)))
      return failure();
  }
  return finish();
}

LogicalResult Expander::expandLoop(Inference &node) { return LoopUnroller(*this, node).run(); }

} // namespace mtc::onnx
