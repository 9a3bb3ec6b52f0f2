//===- MemoryPlan.cpp - Where all that a program holds would lie ------------------------------===//

#include "passes/memory/MemoryPlan.h"

#include "ir/OperandLayout.h"
#include "ir/TargetInfo.h"
#include "ir/VariableAccess.h"

using namespace mlir;
using namespace mtc;

/// A smaller batch is read from the page cache before a thread to read it wakes.
static constexpr int64_t minStagedBytes = 64 << 10;

static bool writesTransientVariables(func::FuncOp function, SymbolTable &symbols) {
  return llvm::any_of(function.front(), [&](Operation &op) {
    return llvm::any_of(writtenVariables(&op), [&](FlatSymbolRefAttr symbol) {
      return symbols.lookup<VariableOp>(symbol.getValue()).getTransient();
    });
  });
}

/// Whether it is known where an operation's results lie.
static LogicalResult verifyPlaceable(func::FuncOp function) {
  for (Operation &op : function.front())
    if (!isa<KernelOp, LibraryCallOpInterface, func::ReturnOp>(op) && !op.hasTrait<mtc::View>() &&
        readVariables(&op).empty() && writtenVariables(&op).empty())
      return op.emitOpError("is neither a kernel nor a library call: it cannot be allocated");
  return success();
}

FailureOr<MemoryPlan> MemoryPlan::compute(ModuleOp module) {
  FailureOr<VariableLayout> variables = VariableLayout::compute(module);
  if (failed(variables))
    return failure();
  MemoryPlan plan(std::move(*variables));
  ArgumentLayout arguments(module, plan.variables.size);
  if (arguments.getSize() >= minStagedBytes)
    plan.staging = arguments.getSize();
  plan.fixed = plan.variables.size + arguments.getSize() + plan.staging;

  SymbolTable symbols(module);
  TargetInfo target = TargetInfo::of(module);
  int64_t time = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(verifyPlaceable(function)))
      return failure();
    FailureOr<Schedule> schedule = Schedule::compute(function);
    if (failed(schedule))
      return failure();
    bool isAside = writesTransientVariables(function, symbols);
    BufferAssignment buffers = BufferAssignment::compute(
        function, *schedule,
        {plan.variables, arguments, target, symbols,
         isAside ? plan.aside.temporaries : plan.common.temporaries, time});
    int64_t end = time + schedule->getEnd();
    plan.functions.push_back(std::make_unique<FunctionPlan>(
        FunctionPlan{function, std::move(*schedule), std::move(buffers), time, isAside}));
    time = end + 1;
  }
  for (Region *region : {&plan.common, &plan.aside})
    region->layout = layOut(region->temporaries);
  plan.findPeak();
  return std::move(plan);
}

void MemoryPlan::findPeak() {
  for (const auto &each : functions) {
    int64_t time = common.layout.peakTime - each->firstTime;
    if (each->isAside || time < 0 || time >= each->schedule.getEnd())
      continue;
    peak = each->schedule.getOrder()[time];
    scratchAtPeak = paddedBytes(std::max<int64_t>(each->buffers.scratchOf(peak).second, 0));
  }
}

int64_t MemoryPlan::offsetOf(const FunctionPlan &function, Buffer buffer) const {
  const Region &region = function.isAside ? aside : common;
  return buffer.fixedOffset ? *buffer.fixedOffset : fixed + region.layout.offsets[buffer.temporary];
}

int64_t MemoryPlan::offsetOf(const FunctionPlan &function, Value value) const {
  return offsetOf(function, function.buffers.bufferOf(value)) + offsetInBuffer(value);
}
