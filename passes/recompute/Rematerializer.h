//===- Rematerializer.h - Rematerialization of values before their late uses ------------------===//

#ifndef MTC_PASSES_RECOMPUTE_REMATERIALIZER_H
#define MTC_PASSES_RECOMPUTE_REMATERIALIZER_H

#include "ir/steps/VariableAccess.h"
#include "passes/cost/OperationTimes.h"
#include "passes/recompute/BlockOrder.h"
#include "passes/recompute/Gathers.h"

#include "mlir/IR/PatternMatch.h"

#include <functional>
#include <optional>

namespace mtc {

/// Returns whether an operation returns the same values when it runs again on the same operands.
bool mayRunAgain(mlir::Operation *op);
/// Returns whether the operation's results occupy temporaries, unlike views and reads of variables.
bool computes(mlir::Operation *op);
/// Returns whether a value is so small compared with the operation's results that it is saved, not
/// recomputed.
bool isSmallComparedTo(mlir::Value value, mlir::Operation *op);
/// Returns a hash of an operation and of its regions, excluding operands and locations.
size_t hashWithoutOperands(mlir::Operation *op);

/// Rewrites a function's block such that values need not stay live until their late uses. A value
/// is recomputed before its first late use, from operands that are still live there or that are
/// recomputed as well. Of a kernel, only the part that computes the value is repeated, starting
/// from other results of the kernel if they are live (`sliceKernel`). All late uses share one copy
/// of a value; if a copy is needed earlier, it moves up together with its operands. If a parameter
/// is gathered from its ranks several times, the recomputation uses the gather of the late uses.
/// That gather is moved up, so that no gathered value stays live. Changes can be undone in reverse
/// order.
class Rematerializer {
public:
  /// Notifies `listener` of each change.
  Rematerializer(mlir::Block &block, mlir::RewriterBase::Listener &listener)
      : listener(listener), accesses(block), order(block), gathers(block) {}

  /// Operations added by recomputation.
  struct Added {
    struct Copy {
      mlir::Operation *copy, *original;
      /// Result of the original. A copy that lacks some of the original's results computes this one
      /// as its first result.
      mlir::OpResult value;
      double part; ///< fraction of the original's memory traffic
    };
    mlir::SmallVector<Copy> copies;
    mlir::SmallVector<mlir::Operation *> moved; ///< existing copies that moved up

    /// Returns the estimated time of the copies in seconds.
    double time(OperationTimes &times) const;
    /// Like `time`, and records the time of each copy in `times`.
    double remember(OperationTimes &times) const;
  };

  /// Treatment of operands that are no longer live at the recomputation.
  enum class DeadOperands { ComputeAgain, Keep };

  /// Permits recomputation to use a value whose last use precedes it.
  void keep(mlir::OpResult value) { kept.insert(value); }

  /// Recomputes the result of a kernel or call for its uses after `place`. Returns nothing, without
  /// any change, if an operation to repeat is not pure or reads a variable that has been
  /// overwritten.
  std::optional<Added> evict(mlir::OpResult value, mlir::Operation *place, DeadOperands dead) {
    return evict(value, place, dead, /*together=*/{});
  }
  /// Like `evict`, and recomputes several results of one operation by one copy of all of it.
  std::optional<Added> evictTogether(mlir::ArrayRef<mlir::OpResult> values,
                                     mlir::Operation *place) {
    return evict(values, place, DeadOperands::ComputeAgain, /*together=*/values);
  }
  /// Returns the numbers of the operands that are no longer live when the result is recomputed.
  /// Operands that an elementwise kernel can compute from live values are not included. Of operands
  /// that are views of one value, only the first counts.
  mlir::SmallVector<unsigned> findDeadOperands(mlir::OpResult value, mlir::Operation *place) const;
  /// Returns a hash that is equal for values of equal layers whose evictions repeat equal
  /// operations from equal live operands. Returns nothing if there is no eviction or if it takes
  /// more than `maxTime` seconds.
  std::optional<size_t> hashEviction(mlir::OpResult value, mlir::Operation *place,
                                     OperationTimes &times, double maxTime) const;
  /// Returns the hash of an operation without its operands, as `hashWithoutOperands` does, which is
  /// computed once.
  size_t hashOf(mlir::Operation *op) const;
  /// Returns the order of the block, which must only be changed by evictions.
  const BlockOrder &getOrder() const { return order; }
  /// Undoes the evictions since a mark.
  size_t mark() const { return undo.size(); }
  void undoTo(size_t mark);

private:
  class EvictionHash;
  struct Need {
    mlir::Operation *user; ///< The value is needed before this operation.
    DeadOperands dead;
    Added *added;
    mlir::ArrayRef<mlir::OpResult> together = {}; ///< Results that share one copy.
  };
  std::optional<Added> evict(mlir::ArrayRef<mlir::OpResult> values, mlir::Operation *place,
                             DeadOperands dead, mlir::ArrayRef<mlir::OpResult> together);
  mlir::Operation *firstUser(mlir::Value value, mlir::Operation *place) const;
  mlir::Value valueAt(mlir::Value value, const Need &need, mlir::Operation *consumer);
  mlir::Value copyAt(mlir::OpResult value, const Need &need);
  mlir::Value gatheredAt(mlir::Value value, const Need &need);
  mlir::Operation *cloneFor(mlir::OpResult value, mlir::Operation *user) const;
  void recordCopy(mlir::OpResult value, mlir::Operation *copy, const Need &need);
  void insert(mlir::Operation *copy, mlir::Operation *original, const Need &need);
  void record(mlir::Value value, mlir::Value copy);
  void moveUp(mlir::Operation *copy, const Need &need);
  bool isAvailableAt(mlir::Value value, mlir::Operation *user) const;
  bool isAliveAt(mlir::Value value, mlir::Operation *user) const;
  bool mayCompute(mlir::Operation *op, mlir::Operation *user) const;
  void setOperand(mlir::OpOperand &operand, mlir::Value value);

  mlir::RewriterBase::Listener &listener;
  VariableAccesses accesses; ///< Copies do not write variables.
  BlockOrder order;
  Gathers gathers;
  llvm::DenseSet<mlir::Value> kept;
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
  mutable llvm::DenseMap<mlir::Operation *, size_t> hashes; ///< without operands
  /// The inputs of kernels that a result depends on.
  mutable llvm::DenseMap<mlir::Value, mlir::SmallVector<unsigned>> inputs;
  std::vector<std::function<void()>> undo;
  bool isPossible = true;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_REMATERIALIZER_H
