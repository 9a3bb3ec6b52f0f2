//===- Rematerializer.h - Values are computed again for their late readers --------------------===//

#ifndef MTC_PASSES_RECOMPUTE_REMATERIALIZER_H
#define MTC_PASSES_RECOMPUTE_REMATERIALIZER_H

#include "ir/VariableAccess.h"

#include "mlir/IR/PatternMatch.h"

#include <functional>
#include <optional>

namespace mtc {

/// Changes a function's block so that values need not be kept for readers that come late: in front
/// of the first of these the operation is computed again, of operands that are still alive there
/// or that are computed again too. One copy of an operation serves all; one that is needed earlier
/// moves up, with its operands. Each change can be undone, the last first.
class Rematerializer {
public:
  /// Tells `listener` of each change.
  Rematerializer(mlir::Block &block, mlir::RewriterBase::Listener &listener)
      : block(block), listener(listener), accesses(block) {}

  /// What computing again took.
  struct Added {
    struct Copy {
      mlir::Operation *copy, *original;
    };
    mlir::SmallVector<Copy> copies;
    mlir::SmallVector<mlir::Operation *> moved; ///< known copies that are needed earlier now
  };

  /// What becomes of operands that are dead by then.
  enum class DeadOperands { ComputeAgain, Keep };

  /// Computes an operation again for the readers of its results behind `place`. None where it
  /// must not be: an operation on the way is not pure, or reads a variable that has a new value
  /// by then. Nothing has changed then.
  std::optional<Added> evict(mlir::Operation *op, mlir::Operation *place, DeadOperands dead);
  /// The operands of an operation that nothing would read any more when it is computed again.
  mlir::SmallVector<mlir::Value> findDeadOperands(mlir::Operation *op,
                                                  mlir::Operation *place) const;
  /// Takes back what the evictions since a mark did.
  size_t mark() const { return undo.size(); }
  void undoTo(size_t mark);

private:
  struct Need {
    mlir::Operation *reader; ///< In front of which the value is needed.
    DeadOperands dead;
    Added *added;
  };
  static mlir::Operation *firstReader(mlir::Operation *op, mlir::Operation *place);
  mlir::Value valueAt(mlir::Value value, const Need &need, mlir::Operation *consumer);
  mlir::Operation *copyAt(mlir::Operation *op, const Need &need);
  void moveUp(mlir::Operation *copy, const Need &need);
  bool isAliveAt(mlir::Value value, mlir::Operation *reader) const;
  bool mayCompute(mlir::Operation *op, mlir::Operation *reader) const;
  void setOperand(mlir::OpOperand &operand, mlir::Value value);

  mlir::Block &block;
  mlir::RewriterBase::Listener &listener;
  VariableAccesses accesses; ///< Copies write no variables.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> copies;
  std::vector<std::function<void()>> undo;
  bool isPossible = true;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_REMATERIALIZER_H
