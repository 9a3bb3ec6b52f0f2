//===- StepCost.h - Estimated time of a module's functions ------------------------------------===//

#ifndef MTC_PASSES_COST_STEPCOST_H
#define MTC_PASSES_COST_STEPCOST_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace mtc {

/// Time, floating-point operations and memory traffic. Time is counted in whole picoseconds, so
/// that sums do not depend on the order of summation.
struct TimedCost {
  int64_t picoseconds = 0, flops = 0, bytes = 0;

  double seconds() const { return 1e-12 * static_cast<double>(picoseconds); }
  TimedCost &operator+=(const TimedCost &other);
  TimedCost &operator-=(const TimedCost &other);
  bool operator==(const TimedCost &other) const = default;
};

/// Estimates the time of a module's functions on its target: functions of kernels and library
/// calls, or steps of launches. The module may change between queries: the class is a listener of
/// the rewriter that changes it, and each query estimates only changed operations again.
///
/// Operations run one after another. Asynchronous copies, which overlap with computation, cost
/// nothing here, and neither do writes to variables, whose values are mostly computed in place.
class StepCost : public mlir::RewriterBase::Listener {
public:
  explicit StepCost(mlir::ModuleOp module) : module(module) {}

  /// The cost of one operation of a function. The kind is `kernel`, `copy` or the kind of a library
  /// call; "" if the operation does not execute.
  struct OperationCost : TimedCost {
    llvm::StringRef kind;
  };
  /// Returns the current cost of an operation.
  OperationCost of(mlir::Operation *op);
  /// Returns the current cost of an operation without estimating the others, and does not remember
  /// it. Requires that the target and the functions have not changed since the first estimate.
  OperationCost estimateAlone(mlir::Operation *op);
  /// Returns the cost of a `func.func` or `mtc.step`; zero if there is none of this name.
  TimedCost ofFunction(llvm::StringRef name);
  /// Returns the cost of a training step of a rank: each `micro_step`, then `update`.
  TimedCost ofStep();
  /// Returns the cost of a training step by kind of operation, longest first.
  llvm::SmallVector<std::pair<llvm::StringRef, TimedCost>> ofStepByKind();
  /// Describes the source of the target's rates; "" without a target, where times are meaningful
  /// only in comparisons.
  std::string describeRates() const;
  /// Returns the threads and the source of the estimates of kernels on the host.
  std::string describeHostRates() const;

  /// Returns the number of estimates so far, counting repeated estimates of the same operation.
  int64_t getEstimates() const { return estimates; }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationModified(mlir::Operation *op) override;
  void notifyOperationErased(mlir::Operation *op) override;

private:
  struct Entry {
    OperationCost cost;
    mlir::Operation *function;
  };
  /// Marks `op`, an operation of `parent`, or its ancestor in the function as stale.
  void change(mlir::Operation *op, mlir::Operation *parent);
  void forget(mlir::Operation *op);
  void update();
  void collect();
  void collectNames();
  llvm::SmallVector<llvm::StringRef> functionsOfStep();
  void add(mlir::Operation *op);
  OperationCost estimate(mlir::Operation *op);

  mlir::ModuleOp module;
  bool isModuleStale = true; ///< The target or the set of functions changed.
  mlir::Attribute target;
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> named;
  llvm::DenseMap<mlir::Operation *, Entry> entries; ///< of operations that execute
  llvm::DenseMap<mlir::Operation *, TimedCost> functions;
  llvm::SetVector<mlir::Operation *> stale; ///< Operations of functions.
  /// Costs of launches by their kernel function, which many windows or layers share.
  llvm::DenseMap<mlir::Operation *, OperationCost> launched;
  int64_t estimates = 0;
};

} // namespace mtc

#endif // MTC_PASSES_COST_STEPCOST_H
