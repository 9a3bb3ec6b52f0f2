//===- KeepLoops.cpp - Replacement of loops by mtc.Scan ---------------------------------------===//

#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/KeptLoop.h"
#include "frontend/onnx/inference/Walk.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace mtc::onnx {

/// The maximum number of iterations of a loop that is kept. The numbers of the iterations may be a
/// constant of the program.
static constexpr int64_t maxKeptIterations = 1 << 20;

static RankedTensorType withAxis(RankedTensorType type, int64_t axis, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, extent);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Returns the permutation that moves an axis to another position.
static DenseI64ArrayAttr movingAxis(OpBuilder &builder, int64_t rank, int64_t from, int64_t to) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return builder.getDenseI64ArrayAttr(permutation);
}

Value Expander::reversed(Inference &node, Value value) {
  return create(node, "Slice", 13,
                {value, createInts(node, -1), createInts(node, INT64_MIN), createInts(node, 0),
                 createInts(node, -1)},
                {})
      .getResult(0);
}

Value Expander::moveAxis(Inference &node, Value value, int64_t from, int64_t to) {
  if (from == to)
    return value;
  const int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return create(node, "Transpose", 13, value,
                builder.getNamedAttr("perm", movingAxis(builder, rank, from, to)))
      .getResult(0);
}

FailureOr<bool> Expander::keepLoop(Inference &node, bool isLoop, int64_t iterations,
                                   ValueRange states, ValueRange inputs,
                                   const ScanLists &inputLists, const ScanLists &outputLists,
                                   bool ignoresCondition) {
  if (iterations <= std::max<int64_t>(unrollLimit, 0) || iterations > maxKeptIterations)
    return false;
  SmallVector<KeptLoop::Input> scanned;
  for (auto [value, axis, isReversed] :
       llvm::zip_equal(inputs, inputLists.axes, inputLists.areReversed))
    scanned.push_back({value, axis, isReversed});
  SmallVector<bool> areUsed;
  for (size_t i = states.size(); i < node.resultCount(); ++i)
    areUsed.push_back(node.wants(i) && !node.op().getOutputs()[i].use_empty());
  KeptLoop loop(*node.graph("body"), isLoop, iterations, states, scanned, areUsed);
  if (failed(loop.build(walk, ignoresCondition)))
    return false;
  ScanLists outputs = outputLists;
  ArrayRef<RankedTensorType> types = loop.getOutputTypes();
  for (auto [axis, type] : llvm::zip_equal(outputs.axes, types))
    axis = node.normalized(axis, type.getRank() + 1, "attribute scan_output_axes");
  if (node.failed())
    return failure();
  for (auto [i, state] : llvm::enumerate(states))
    if (failed(node.result(i, cast<RankedTensorType>(state.getType()))))
      return failure();
  for (auto [i, type] : llvm::enumerate(types))
    if (failed(node.result(states.size() + i, withAxis(type, outputs.axes[i], iterations))))
      return failure();
  if (walk.replacesLoops())
    return failed(replaceLoop(node, loop, iterations, states, outputs, areUsed))
               ? FailureOr<bool>(failure())
               : FailureOr<bool>(true);
  if (failed(walk.checkDeclared(node)))
    return failure();
  walk.keep(node);
  return true;
}

LogicalResult Expander::replaceLoop(Inference &node, KeptLoop &loop, int64_t iterations,
                                    ValueRange states, const ScanLists &outputLists,
                                    ArrayRef<bool> areUsed) {
  ArrayRef<KeptLoop::Input> inputs = loop.getInputs();
  // The direction of most inputs; other inputs, and outputs, are reversed before and after the
  // loop.
  const auto reversedCount =
      llvm::count_if(inputs, [](const KeptLoop::Input &input) { return input.isReversed; });
  const bool isReversed = 2 * static_cast<size_t>(reversedCount) > inputs.size();
  SmallVector<Value> operands(states);
  for (const KeptLoop::Input &input : inputs)
    if (input.value) {
      Value slices = moveAxis(node, input.value, input.axis, 0);
      operands.push_back(input.isReversed != isReversed ? reversed(node, slices) : slices);
    } else {
      operands.push_back(createInts(node, llvm::to_vector(llvm::seq<int64_t>(0, iterations))));
    }
  llvm::append_range(operands, loop.getCaptured());
  SmallVector<Type> types(states.getTypes());
  for (auto [type, isUsed] : llvm::zip_equal(loop.getOutputTypes(), areUsed))
    if (isUsed)
      types.push_back(withAxis(type, 0, iterations));
  Type integer = builder.getIntegerType(64, /*isSigned=*/true);
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getIntegerAttr(integer, value));
  };
  builder.setInsertionPoint(node.op());
  auto scan = NodeOp::create(
      builder, node.location(), types, builder.getStringAttr(scanOperator),
      builder.getI64IntegerAttr(1), builder.getStringAttr("mtc"),
      builder.getDictionaryAttr({number("states", static_cast<int64_t>(states.size())),
                                 number("inputs", static_cast<int64_t>(inputs.size())),
                                 number("iterations", iterations), number("reversed", isReversed)}),
      operands, builder.getStrArrayAttr({"body"}), /*graphsCount=*/1);
  loop.takeBody(scan.getGraphs().front());
  created.insert(scan);

  SmallVector<Value> results(scan.getOutputs().take_front(states.size()));
  size_t next = states.size();
  for (auto [isUsed, axis, isOutputReversed] :
       llvm::zip_equal(areUsed, outputLists.axes, outputLists.areReversed)) {
    if (!isUsed) {
      results.push_back(Value());
      continue;
    }
    Value value = scan.getResult(next++);
    if (isOutputReversed != isReversed)
      value = reversed(node, value);
    results.push_back(moveAxis(node, value, 0, axis));
  }
  return replace(node, results);
}

} // namespace mtc::onnx
