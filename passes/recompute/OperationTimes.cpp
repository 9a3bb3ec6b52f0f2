//===- OperationTimes.cpp - What operations and copies of them take ---------------------------===//

#include "passes/recompute/OperationTimes.h"

using namespace mlir;
using namespace mtc;

double OperationTimes::of(Operation *op) {
  if (op->hasTrait<mtc::View>()) // Copies of views are not remembered.
    return 0;
  auto [known, isNew] = times.try_emplace(op);
  if (isNew)
    known->second = estimate(op);
  return known->second;
}

double OperationTimes::ofFunction(func::FuncOp function) {
  double sum = 0;
  for (Operation &op : function.front())
    sum += of(&op);
  return sum;
}

double OperationTimes::of(const Rematerializer::Added &added) {
  double sum = 0;
  for (auto [copy, original, part] : added.copies)
    sum += part * of(original);
  return sum;
}

void OperationTimes::add(const Rematerializer::Added &added) {
  for (auto [copy, original, part] : added.copies)
    times[copy] = part * of(original);
}

/// Where there is no target, a byte takes as long as so many operations.
double OperationTimes::estimate(Operation *op) {
  constexpr double flopsPerByte = 10, flopsPerSecond = 1e11;
  if (!cost.describeRates().empty())
    return cost.of(op).seconds();
  auto ofCost = [&](const Cost &found) {
    return (static_cast<double>(found.flops) + flopsPerByte * static_cast<double>(found.bytes)) /
           flopsPerSecond;
  };
  if (auto kernel = dyn_cast<KernelOp>(op))
    return ofCost(kernel.getCost());
  auto known = dyn_cast<CostOpInterface>(op);
  return known ? ofCost(known.getCost()) : 0;
}
