//===- OperationTimes.h - Cached time estimates of operations ---------------------------------===//

#ifndef MTC_PASSES_COST_OPERATIONTIMES_H
#define MTC_PASSES_COST_OPERATIONTIMES_H

#include "passes/cost/StepCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mtc {

/// Caches the estimated time of operations, in seconds, while a function changes. The cache is a
/// listener of the rewriter that changes the function; an operation keeps its first estimate.
class OperationTimes : public mlir::RewriterBase::Listener {
public:
  explicit OperationTimes(mlir::ModuleOp module) : cost(module) {}

  double of(mlir::Operation *op);
  /// Returns the time of a kernel if it runs on the host.
  double onHost(mlir::Operation *kernel);
  double ofFunction(mlir::func::FuncOp function);
  /// Sets the time of an operation, which overrides the estimate.
  void set(mlir::Operation *op, double seconds) { times[op] = seconds; }
  /// Copies the times of operations from which those of this module were cloned.
  void copyFrom(const OperationTimes &original, const mlir::IRMapping &clones);

  void notifyOperationErased(mlir::Operation *op) override {
    times.erase(op);
    hostTimes.erase(op);
  }

private:
  StepCost cost;
  llvm::DenseMap<mlir::Operation *, double> times, hostTimes;
};

} // namespace mtc

#endif // MTC_PASSES_COST_OPERATIONTIMES_H
