//===- FunctionBudget.cpp - Memory budget of a function ---------------------------------------===//

#include "passes/search/FunctionBudget.h"

#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/search/TransferTimes.h"

using namespace mlir;
using namespace mtc;

Deadline mtc::deadlineIn(std::optional<double> seconds) {
  using namespace std::chrono;
  if (!seconds)
    return Deadline::max();
  return steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(*seconds));
}

OrderScore FunctionBudget::score() const {
  ArrayRef<int64_t> live = function.getLive();
  const int64_t peak = live[function.getPeakTime()];
  return {analysis.getSavedBytes() + peak,
          llvm::count_if(function.getOrder(), [&](const PlannedOperation *op) {
            return live[op->time] == peak && op->takesTime();
          })};
}

int64_t FunctionBudget::countRuns(func::FuncOp function) {
  const StringRef name = withoutShape(function.getSymName());
  if (name == evaluateName)
    return 0;
  ProgramOp program = ProgramOp::find(function->getParentOfType<ModuleOp>());
  return program && isMicroStep(name) ? program.getMicroStepsOfRank() : 1;
}

double FunctionBudget::getSeconds(OperationTimes &times) const {
  const double computing = times.ofFunction(function.getFunction());
  const TargetInfo target = TargetInfo::of(function.getFunction());
  if (function.getBuffers().movedAway.empty() &&
      analysis.getVariables().getSize(target.getOffloadSpace()) == 0)
    return computing; // Nothing is offloaded.
  return computing + estimateTransfers(function, times, target, analysis.getSlotBytes()).exposed;
}

FailureOr<int64_t> FunctionBudget::findExcess() const {
  if (failed(analysis.update()))
    return failure();
  const int64_t excess = liveBytes() - bytes;
  if (excess > 0)
    return excess;
  // Another function determines the peak of the common layout, so lay out this function alone.
  if (analysis.getLiveBytes() > liveBytes())
    return function.findArenaBytes(bytes - analysis.getFixedBytes()) + analysis.getFixedBytes() -
           bytes;
  FailureOr<int64_t> needed = analysis.findArenaBytes(bytes);
  if (failed(needed))
    return failure();
  return *needed - bytes;
}

MemorySpace FunctionBudget::getOffloadSpace() const {
  return TargetInfo::of(function.getFunction()).getOffloadSpace();
}
