//===- OperationTimes.cpp - Cached time estimates of operations -------------------------------===//

#include "passes/cost/OperationTimes.h"

using namespace mlir;
using namespace mtc;

double OperationTimes::of(Operation *op) {
  auto [known, isNew] = times.try_emplace(op);
  if (isNew)
    known->second = cost.of(op).seconds();
  return known->second;
}

double OperationTimes::ofFunction(func::FuncOp function) {
  double sum = 0;
  for (Operation &op : function.front())
    sum += of(&op);
  return sum;
}
