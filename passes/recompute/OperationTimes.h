//===- OperationTimes.h - What operations and copies of them take -----------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_OPERATIONTIMES_H
#define MTC_PASSES_RECOMPUTE_OPERATIONTIMES_H

#include "passes/cost/StepCost.h"
#include "passes/recompute/Rematerializer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// What operations take, in seconds. Copies take what their originals do, or the part of it that
/// they compute.
class OperationTimes {
public:
  explicit OperationTimes(mlir::ModuleOp module) : cost(module) {}

  double of(mlir::Operation *op);
  double ofFunction(mlir::func::FuncOp function);
  double of(const Rematerializer::Added &added);
  /// Remembers what copies take.
  void add(const Rematerializer::Added &added);

private:
  double estimate(mlir::Operation *op);

  StepCost cost;
  llvm::DenseMap<mlir::Operation *, double> times;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_OPERATIONTIMES_H
