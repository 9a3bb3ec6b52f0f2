//===- StepCost.h - Questions about the time of a module's functions --------------------------===//

#ifndef MTC_PASSES_COST_STEPCOST_H
#define MTC_PASSES_COST_STEPCOST_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace mtc {

/// What something costs. Time is counted in whole picoseconds, so that a sum does not depend on the
/// order in which it was made.
struct TimedCost {
  int64_t picoseconds = 0, flops = 0, bytes = 0;

  double seconds() const { return 1e-12 * static_cast<double>(picoseconds); }
  TimedCost &operator+=(const TimedCost &other);
  TimedCost &operator-=(const TimedCost &other);
  bool operator==(const TimedCost &other) const = default;
};

/// Estimates, again and again, what the functions of a module take on its target: functions of
/// kernels and library calls, or steps of launches. Between two questions the module may change:
/// this is a listener of the rewriter that changes it, and a later answer costs estimating what has
/// changed.
///
/// Operations run one after another. Copies on streams, which run meanwhile, and values that are
/// written to variables, which are mostly computed there, take no time.
class StepCost : public mlir::RewriterBase::Listener {
public:
  explicit StepCost(mlir::ModuleOp module) : module(module) {}

  /// Of an operation of a function, now. Its kind is `kernel`, `copy` or a library call's; "" where
  /// nothing runs.
  struct OperationCost : TimedCost {
    llvm::StringRef kind;
  };
  OperationCost of(mlir::Operation *op);
  /// Of a `func.func` or `mtc.step` of the module; nothing where there is none of the name.
  TimedCost ofFunction(llvm::StringRef name);
  /// Of a training step: `micro_step`, then `update`.
  TimedCost ofStep();
  /// The same by kinds of operations, the longest first.
  llvm::SmallVector<std::pair<llvm::StringRef, TimedCost>> ofStepByKind();
  /// What the estimates are of, as the target says; "" without a target, where times are of use in
  /// comparisons alone.
  std::string describeRates() const;

  /// How many operations were estimated so far, counting one again when it was estimated again.
  int64_t getEstimates() const { return estimates; }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationModified(mlir::Operation *op) override;
  void notifyOperationErased(mlir::Operation *op) override;

private:
  struct Entry {
    OperationCost cost;
    mlir::Operation *function;
  };
  /// Marks what was changed at or inside of `op`, an operation of `parent`.
  void change(mlir::Operation *op, mlir::Operation *parent);
  void forget(mlir::Operation *op);
  void update();
  void collect();
  OperationCost estimate(mlir::Operation *op);

  mlir::ModuleOp module;
  bool isModuleStale = true; ///< target or functions
  mlir::Attribute target;
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> named;
  llvm::DenseMap<mlir::Operation *, Entry> entries;
  llvm::DenseMap<mlir::Operation *, TimedCost> functions;
  llvm::SetVector<mlir::Operation *> stale; ///< operations of functions
  int64_t estimates = 0;
};

} // namespace mtc

#endif // MTC_PASSES_COST_STEPCOST_H
