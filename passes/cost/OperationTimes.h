//===- OperationTimes.h - What operations take ------------------------------------------------===//

#ifndef MTC_PASSES_COST_OPERATIONTIMES_H
#define MTC_PASSES_COST_OPERATIONTIMES_H

#include "passes/cost/StepCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// What operations take, in seconds, asked many times while a function changes: a listener of the
/// rewriter that changes it. An operation takes what it did when it was asked for first.
class OperationTimes : public mlir::RewriterBase::Listener {
public:
  explicit OperationTimes(mlir::ModuleOp module) : cost(module) {}

  double of(mlir::Operation *op);
  double ofFunction(mlir::func::FuncOp function);
  /// Says what an operation takes, instead of an estimate.
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
