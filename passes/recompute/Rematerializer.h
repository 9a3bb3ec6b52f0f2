//===- Rematerializer.h - Values are computed again for their late readers --------------------===//

#ifndef MTC_PASSES_RECOMPUTE_REMATERIALIZER_H
#define MTC_PASSES_RECOMPUTE_REMATERIALIZER_H

#include "ir/steps/VariableAccess.h"
#include "passes/cost/OperationTimes.h"
#include "passes/recompute/BlockOrder.h"

#include "mlir/IR/PatternMatch.h"

#include <functional>
#include <optional>

namespace mtc {

/// Whether an operation gives the same values where it runs again on the same operands.
bool mayRunAgain(mlir::Operation *op);

/// Changes a function's block so that values need not be kept for readers that come late: in front
/// of the first of these the value is computed again, of operands that are still alive there or
/// that are computed again too. Of a kernel only what the value takes runs again, and starts from
/// the kernel's other results where they are alive (`sliceKernel`). One copy of a value serves all
/// readers; one that is needed earlier moves up, with its operands. Each change can be undone, the
/// last first.
class Rematerializer {
public:
  /// Tells `listener` of each change.
  Rematerializer(mlir::Block &block, mlir::RewriterBase::Listener &listener)
      : listener(listener), accesses(block), order(block) {}

  /// What computing again took.
  struct Added {
    struct Copy {
      mlir::Operation *copy, *original;
      mlir::OpResult value; ///< of the original; the copy's first where it has not all of them
      double part;          ///< of the original's bytes that the copy moves
    };
    mlir::SmallVector<Copy> copies;
    mlir::SmallVector<mlir::Operation *> moved; ///< known copies that are needed earlier now

    /// What the copies take, in seconds.
    double time(OperationTimes &times) const;
    /// The same, and says so of each.
    double remember(OperationTimes &times) const;
  };

  /// What becomes of operands that are dead by then.
  enum class DeadOperands { ComputeAgain, Keep };

  /// Lets what is computed again read a value, although nothing reads it so late by now.
  void keep(mlir::OpResult value) { kept.insert(value); }

  /// Computes a kernel's or call's result again for its readers behind `place`. None where it must
  /// not be: an operation on the way is not pure, or reads a variable that has a new value by then.
  /// Nothing has changed then.
  std::optional<Added> evict(mlir::OpResult value, mlir::Operation *place, DeadOperands dead);
  /// What an operation reads that nothing would read any more when the result is computed again,
  /// and that is not made of what is alive then by an elementwise kernel.
  mlir::SmallVector<mlir::Value> findDeadOperands(mlir::OpResult value,
                                                  mlir::Operation *place) const;
  /// The order of the block, which must change by evictions alone.
  const BlockOrder &getOrder() const { return order; }
  /// Takes back what the evictions since a mark did.
  size_t mark() const { return undo.size(); }
  void undoTo(size_t mark);

private:
  struct Need {
    mlir::Operation *reader; ///< In front of which the value is needed.
    DeadOperands dead;
    Added *added;
  };
  mlir::Operation *firstReader(mlir::Value value, mlir::Operation *place) const;
  mlir::Value valueAt(mlir::Value value, const Need &need, mlir::Operation *consumer);
  mlir::Value copyAt(mlir::OpResult value, const Need &need);
  mlir::Operation *cloneFor(mlir::OpResult value, mlir::Operation *reader) const;
  void insert(mlir::Operation *copy, mlir::Operation *original, const Need &need);
  void record(mlir::Value value, mlir::Value copy);
  void moveUp(mlir::Operation *copy, const Need &need);
  bool isAvailableAt(mlir::Value value, mlir::Operation *reader) const;
  bool isAliveAt(mlir::Value value, mlir::Operation *reader) const;
  bool mayCompute(mlir::Operation *op, mlir::Operation *reader) const;
  void setOperand(mlir::OpOperand &operand, mlir::Value value);

  mlir::RewriterBase::Listener &listener;
  VariableAccesses accesses; ///< Copies write no variables.
  BlockOrder order;
  llvm::DenseSet<mlir::Value> kept;
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
  std::vector<std::function<void()>> undo;
  bool isPossible = true;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_REMATERIALIZER_H
