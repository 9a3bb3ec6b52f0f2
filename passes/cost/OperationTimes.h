//===- OperationTimes.h - Cached time estimates of operations ---------------------------------===//

#ifndef MTC_PASSES_COST_OPERATIONTIMES_H
#define MTC_PASSES_COST_OPERATIONTIMES_H

#include "passes/cost/StepCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Caches the estimated time of operations, in seconds, while a function changes. The cache is a
/// listener of the rewriter that changes the function; an operation keeps its first estimate.
class OperationTimes : public mlir::RewriterBase::Listener {
public:
  explicit OperationTimes(mlir::ModuleOp module) : cost(module) {}

  double of(mlir::Operation *op);
  double ofFunction(mlir::func::FuncOp function);
  /// Sets the time of an operation, which overrides the estimate.
  void set(mlir::Operation *op, double seconds) { times[op] = seconds; }

  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override {
    cost.notifyOperationInserted(op, previous);
  }
  void notifyOperationErased(mlir::Operation *op) override {
    cost.notifyOperationErased(op);
    times.erase(op);
  }

private:
  StepCost cost;
  llvm::DenseMap<mlir::Operation *, double> times;
};

} // namespace mtc

#endif // MTC_PASSES_COST_OPERATIONTIMES_H
