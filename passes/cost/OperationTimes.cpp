//===- OperationTimes.cpp - Cached time estimates of operations -------------------------------===//

#include "passes/cost/OperationTimes.h"

#include "ir/interfaces/TargetInfo.h"

using namespace mlir;
using namespace mtc;

double OperationTimes::of(Operation *op) {
  auto [known, isNew] = times.try_emplace(op);
  if (isNew)
    known->second = cost.estimateAlone(op).seconds();
  return known->second;
}

void OperationTimes::copyFrom(const OperationTimes &original, const IRMapping &clones) {
  for (auto [op, seconds] : original.times)
    if (Operation *clone = clones.lookupOrNull(op))
      times[clone] = seconds;
}

double OperationTimes::onHost(Operation *kernel) {
  auto [known, isNew] = hostTimes.try_emplace(kernel);
  if (isNew)
    known->second = TargetInfo::of(kernel).getHostKernelSeconds(kernel);
  return known->second;
}

double OperationTimes::ofFunction(func::FuncOp function) {
  double sum = 0;
  for (Operation &op : function.front())
    sum += of(&op);
  return sum;
}
