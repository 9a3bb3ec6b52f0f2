//===- PrintRecomputation.cpp - Prints the rematerialization problem as JSON ------------------===//

#include "ir/NodeNames.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelSlice.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/recompute/Rematerializer.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

#include <set>

namespace mtc {
#define GEN_PASS_DEF_PRINTRECOMPUTATION
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;
namespace json = llvm::json;

namespace {

/// Emits, after a kernel, all slices that compute one of its results, depending on which of the
/// kernel's operands and other results are unavailable.
class SliceMaker {
public:
  explicit SliceMaker(OpResult value)
      : value(value), kernel(cast<KernelOp>(value.getOwner())), builder(kernel) {
    builder.setInsertionPointAfter(kernel);
    sources.insert_range(kernel.getInputs());
    sources.insert_range(kernel->getResults());
  }

  SmallVector<KernelOp> make() {
    makeWithout({});
    return std::move(slices);
  }

private:
  using Sources = std::set<ptrdiff_t>;

  void makeWithout(const Sources &missing) {
    if (!tried.insert(missing).second)
      return;
    KernelOp slice = sliceKernel(builder, kernel, value.getResultNumber(),
                                 [&](Value source) { return !missing.contains(numberOf(source)); });
    if (!slice)
      return;
    Sources read;
    for (Value input : slice.getInputs())
      read.insert(numberOf(input));
    if (made.insert(read).second)
      slices.push_back(slice);
    else
      slice.erase();
    for (ptrdiff_t source : read) {
      Sources more = missing;
      more.insert(source);
      makeWithout(more);
    }
  }

  ptrdiff_t numberOf(Value source) const { return llvm::find(sources, source) - sources.begin(); }

  OpResult value;
  KernelOp kernel;
  OpBuilder builder;
  llvm::SmallSetVector<Value, 8> sources;
  std::set<Sources> tried, made; ///< By missing and by read sources.
  SmallVector<KernelOp> slices;
};

/// Describes a function. Slices are inserted next to their kernels to query their cost, so the
/// module must be a temporary copy.
class FunctionWriter {
public:
  FunctionWriter(const FunctionMemory &function, MemoryAnalysis &analysis, StepCost &costs,
                 const TargetInfo &target)
      : function(function), analysis(analysis), costs(costs), target(target) {}

  FailureOr<json::Object> write();

private:
  LogicalResult add(PlannedOperation *op);
  LogicalResult addSlices();
  json::Object writeOperation(PlannedOperation *op);
  json::Object writeAlternative(PlannedOperation *alternative, int64_t scratch, json::Array gives);
  json::Array writeSharing(PlannedOperation *alternative, int64_t scratch);

  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  StepCost &costs;
  const TargetInfo &target;

  SmallVector<PlannedOperation *, 0> order; ///< executed operations in schedule order
  llvm::DenseMap<Value, int64_t> numbers;   ///< indices of computed values
  SmallVector<int64_t, 0> bytes;            ///< by index; 0 for values in variables
  llvm::DenseMap<PlannedOperation *, int64_t> scratch;
  llvm::DenseMap<PlannedOperation *, SmallVector<std::pair<PlannedValue *, KernelOp>>> slices;
  llvm::DenseMap<Operation *, PlannedOperation *> planned;
};

} // namespace

static int64_t padded(int64_t scratch) { return paddedBytes(std::max<int64_t>(scratch, 0)); }

LogicalResult FunctionWriter::add(PlannedOperation *op) {
  if (op->isAssembly || isa<MoveOp, HoldOp>(op->op) || op->runsInWindows())
    return op->op->emitOpError("is tiled or copied between memory spaces; expected neither");
  if (!op->isCompute && op->written.empty() && !op->op->hasTrait<OpTrait::IsTerminator>())
    return success();
  order.push_back(op);
  for (PlannedValue &result : op->results) {
    numbers[result.value] = static_cast<int64_t>(bytes.size());
    bytes.push_back(result.buffer->fixedOffset ? 0 : result.bytes);
  }
  if (op->isCompute)
    scratch[op] = op->results.front().buffer->fixedOffset
                      ? op->scratchBytes
                      : op->getScratchBytes(target, std::nullopt);
  return success();
}

/// Adds the slices of kernels with several results, for each result that is not stored in a
/// variable.
LogicalResult FunctionWriter::addSlices() {
  for (PlannedOperation *op : order) {
    auto kernel = dyn_cast<KernelOp>(op->op);
    if (!kernel || op->results.size() == 1 || !mayRunAgain(kernel))
      continue;
    for (PlannedValue &result : op->results) {
      if (bytes[numbers[result.value]] == 0)
        continue;
      for (KernelOp slice : SliceMaker(cast<OpResult>(result.value)).make()) {
        slices[op].emplace_back(&result, slice);
        analysis.notifyOperationInserted(slice, {});
        costs.notifyOperationInserted(slice, {});
      }
    }
  }
  if (failed(analysis.getPlan()))
    return failure();
  for (PlannedOperation *op : function.getText())
    planned[op->op] = op;
  return success();
}

/// Emits triples: a result, a value in whose memory it may be computed, and the scratch bytes in
/// this case.
json::Array FunctionWriter::writeSharing(PlannedOperation *alternative, int64_t scratch) {
  json::Array sharing;
  for (auto [number, result] : llvm::enumerate(alternative->results)) {
    auto own = numbers.find(result.value);
    if (own != numbers.end() && bytes[own->second] == 0)
      continue;
    llvm::SmallSetVector<PlannedValue *, 4> operands;
    for (auto [index, operand] : llvm::enumerate(alternative->operands)) {
      auto other = numbers.find(operand->value);
      if (other == numbers.end() || bytes[other->second] == 0 || !operands.insert(operand) ||
          !alternative->mayShare(number, operand))
        continue;
      int64_t then = number == 0 ? alternative->getScratchBytes(target, index) : scratch;
      sharing.push_back(json::Array{static_cast<int64_t>(number), other->second, padded(then)});
    }
  }
  return sharing;
}

json::Object FunctionWriter::writeAlternative(PlannedOperation *alternative, int64_t scratch,
                                              json::Array gives) {
  llvm::SmallSetVector<int64_t, 8> reads;
  llvm::SmallSetVector<StringRef, 4> variables;
  for (PlannedValue *operand : alternative->operands) {
    if (auto number = numbers.find(operand->value); number != numbers.end())
      reads.insert(number->second);
    else if (operand->definition)
      for (FlatSymbolRefAttr variable : operand->definition->read)
        variables.insert(variable.getValue());
  }
  return json::Object{{"picoseconds", costs.of(alternative->op).picoseconds},
                      {"scratch", padded(scratch)},
                      {"reads", json::Array(reads)},
                      {"variables", json::Array(variables)},
                      {"gives", std::move(gives)},
                      {"in_place", writeSharing(alternative, scratch)}};
}

json::Object FunctionWriter::writeOperation(PlannedOperation *op) {
  json::Array results, writes, alternatives;
  for (const PlannedValue &result : op->results)
    results.push_back(numbers[result.value]);
  alternatives.push_back(writeAlternative(op, scratch.lookup(op), std::move(results)));
  for (auto [value, slice] : slices.lookup(op)) {
    PlannedOperation *alternative = planned.at(slice);
    alternatives.push_back(writeAlternative(alternative,
                                            alternative->getScratchBytes(target, std::nullopt),
                                            json::Array{numbers[value->value]}));
  }
  for (FlatSymbolRefAttr variable : op->written)
    writes.push_back(variable.getValue());
  return json::Object{{"node", json::fixUTF8(nodeNames(op->op->getLoc()))},
                      {"again", op->isCompute && mayRunAgain(op->op)},
                      {"writes", std::move(writes)},
                      {"alternatives", std::move(alternatives)}};
}

FailureOr<json::Object> FunctionWriter::write() {
  const int64_t live = function.getLive()[function.getPeakTime()];
  for (PlannedOperation *op : function.getOrder())
    if (failed(add(op)))
      return failure();
  if (failed(addSlices()))
    return failure();
  json::Array operations;
  for (PlannedOperation *op : order)
    operations.push_back(writeOperation(op));
  return json::Object{{"function", function.getFunction().getSymName()},
                      {"fixed_bytes", analysis.getFixedBytes()},
                      {"live_bytes", analysis.getFixedBytes() + live},
                      {"bytes", json::Array(bytes)},
                      {"operations", std::move(operations)}};
}

namespace {

struct PrintRecomputation : mtc::impl::PrintRecomputationBase<PrintRecomputation> {
  void runOnOperation() override {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    MemoryAnalysis analysis(*copy);
    StepCost costs(*copy);
    const TargetInfo target = TargetInfo::of(*copy);
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    for (const FunctionMemory &function : analysis.getFunctions()) {
      if (function.hasSeparateArena())
        continue;
      FailureOr<json::Object> text = FunctionWriter(function, analysis, costs, target).write();
      if (failed(text))
        return signalPassFailure();
      llvm::errs() << json::Value(std::move(*text)) << "\n";
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
