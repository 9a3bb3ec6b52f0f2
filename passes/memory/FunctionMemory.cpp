//===- FunctionMemory.cpp - Incremental memory analysis of one function -----------------------===//

#include "passes/memory/FunctionMemory.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

/// Cost of analyzing an operation relative to scheduling one. Analysis plans the kernel's loops to
/// determine its scratch.
static constexpr int64_t effortOfRead = 64;

static bool accessesVariables(Operation *op) {
  return !readVariables(op).empty() || !writtenVariables(op).empty();
}

FunctionMemory::FunctionMemory(func::FuncOp function) : function(function) {
  for (BlockArgument argument : function.getArguments())
    arguments.emplace_back(argument);
}

void FunctionMemory::erase(Operation *op) {
  operations.erase(op);
  isStale = isOrderStale = true;
  areAccessesStale |= accessesVariables(op);
}

void FunctionMemory::insert(Operation *op) {
  isStale = isOrderStale = true;
  areAccessesStale |= accessesVariables(op);
}

void FunctionMemory::change(Operation *op) {
  isStale = true;
  areAccessesStale |= accessesVariables(op);
  if (auto known = operations.find(op); known != operations.end())
    known->second->isStale = true;
}

PlannedValue *FunctionMemory::find(Value root) const {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return const_cast<PlannedValue *>(&arguments[argument.getArgNumber()]);
  return &operations.at(root.getDefiningOp())->results[cast<OpResult>(root).getResultNumber()];
}

const PlannedValue &FunctionMemory::operator[](Value value) const { return *find(rootOf(value)); }

void FunctionMemory::collect(bool mayBeSplit) {
  text.clear();
  for (Operation &op : function.front()) {
    auto &known = operations[&op];
    if (!known)
      known = std::make_unique<PlannedOperation>(&op);
    text.push_back(known.get());
  }
  split.reset();
  if (mayBeSplit)
    if (std::optional<MicroStepSplit> found = MicroStepSplit::find(function)) {
      split.emplace(std::move(*found));
      areAccessesStale = true; // They are in the order of the text.
      SmallVector<PlannedOperation *, 0> forward, backward;
      for (PlannedOperation *op : text)
        (split->isForward(op->op) ? forward : backward).push_back(op);
      text = std::move(forward);
      llvm::append_range(text, backward);
    }
  isOrderStale = false;
}

LogicalResult FunctionMemory::refresh() {
  for (PlannedOperation *op : text) {
    if (!op->isStale)
      continue;
    ++reads;
    if (failed(op->refresh([&](Value root) { return find(root); })))
      return failure();
    // Users come later in block order, so this loop still visits them.
    if (op->isView)
      for (Operation *user : op->op->getUsers())
        operations.at(user)->isStale = true;
  }
  if (areAccessesStale)
    accesses = PlannedAccesses(text);
  areAccessesStale = false;
  return success();
}

void FunctionMemory::sum() {
  live.assign(order.size() + 2, 0);
  for (const LiveBuffer &buffer : buffers.temporaries) {
    live[buffer.begin] += buffer.bytes;
    live[buffer.end + 1] -= buffer.bytes;
  }
  peakTime = 0;
  for (size_t time = 1; time < order.size(); ++time) {
    live[time] += live[time - 1];
    if (live[time] > live[peakTime])
      peakTime = static_cast<int64_t>(time);
  }
  live.resize(order.size());
}

LogicalResult FunctionMemory::update(const MemoryContext &context) {
  if (!isStale)
    return success();
  if (isOrderStale || split) // Changed operands may change the parts.
    collect(context.hasMessages);
  const int64_t readBefore = reads;
  if (failed(refresh()))
    return failure();
  effort += static_cast<int64_t>(text.size()) + effortOfRead * (reads - readBefore);
  for (PlannedValue &argument : arguments)
    argument = PlannedValue(argument.value);
  auto scheduled = schedule(text, accesses);
  if (failed(scheduled))
    return failure();
  order = std::move(*scheduled);
  separate =
      function->hasAttr(separateArenaAttribute) || llvm::any_of(text, [&](PlannedOperation *op) {
        return llvm::any_of(op->written, [&](FlatSymbolRefAttr symbol) {
          return context.variables.isTransient(symbol);
        });
      });
  buffers = BufferAssignment::compute(function, order, arguments, accesses, context, getSplit());
  sum();
  arenaSize.reset();
  isStale = false;
  return success();
}
