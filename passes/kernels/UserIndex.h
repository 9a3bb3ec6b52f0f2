//===- UserIndex.h - Ordered index of the users of each value ---------------------------------===//

#ifndef MTC_PASSES_KERNELS_USERINDEX_H
#define MTC_PASSES_KERNELS_USERINDEX_H

#include "ir/Mtc.h"

#include <map>
#include <set>

namespace mtc {

/// Indexes the order of a block's operations, and the users of each value including those of its
/// views. Values may have as many users as the model has parameters, and passes that compare
/// kernels repeatedly need the nearest ones; queries take logarithmic time, whereas MLIR renumbers
/// the whole block for order queries after operations were created. A pass must replace kernels and
/// move views through this class; views may be erased.
class UserIndex {
public:
  explicit UserIndex(mlir::Block &block);

  /// Returns whether `first` precedes `second`.
  bool isBefore(mlir::Operation *first, mlir::Operation *second) const {
    return positions.at(first) < positions.at(second);
  }
  /// Returns whether there is an operation between two others that is neither a kernel, a constant,
  /// a view, an access to a variable nor a collective. Collectives are no boundary: kernels, and
  /// with them the order of summation, must not depend on where values are exchanged.
  bool hasCallBetween(mlir::Operation *first, mlir::Operation *second) const;
  /// Returns whether both operations precede the last message to a later pipeline stage, or neither
  /// does. The stage receives gradients only after it, although no operation shows that.
  bool areOnOneSideOfSends(mlir::Operation *first, mlir::Operation *second) const {
    return (positions.at(first) < lastSend) == (positions.at(second) < lastSend);
  }
  /// Returns whether a value or a view of it has users.
  bool isRead(mlir::Value root) const { return !usersOf(root).empty(); }
  /// Returns whether an operation before `op` uses a value or a view of it.
  bool isReadBefore(mlir::Value root, mlir::Operation *op) const;
  /// Returns whether `op` or an operation after it uses a value or a view of it.
  bool isReadFrom(mlir::Value root, mlir::Operation *op) const;
  /// Returns up to `maximum` kernels before `kernel` that use a value or a view of it, nearest
  /// first.
  llvm::SmallVector<KernelOp> kernelsBefore(mlir::Value root, KernelOp kernel,
                                            unsigned maximum) const;
  /// Returns up to `maximum` kernels after `kernel` that use a value or a view of it, nearest
  /// first.
  llvm::SmallVector<KernelOp> kernelsAfter(mlir::Value root, KernelOp kernel,
                                           unsigned maximum) const;

  /// Removes a kernel that will be erased, and returns its position.
  int64_t remove(KernelOp kernel);
  /// Inserts a kernel at the position of a removed kernel.
  void insert(KernelOp kernel, int64_t position);
  /// Moves a view directly before or after an operation.
  void moveViewBefore(mlir::Operation *view, mlir::Operation *op);
  void moveViewAfter(mlir::Operation *view, mlir::Operation *op);

private:
  using Users = std::map<int64_t, mlir::Operation *>;
  const Users &usersOf(mlir::Value root) const;
  void insertUsersOf(mlir::Value value, mlir::Value root);

  /// Even numbers; a moved view has the odd number before or after the operation's.
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  std::set<int64_t> calls;
  int64_t lastSend = -1;
  llvm::DenseMap<mlir::Value, Users> users; ///< Keyed by root.
};

} // namespace mtc

#endif // MTC_PASSES_KERNELS_USERINDEX_H
