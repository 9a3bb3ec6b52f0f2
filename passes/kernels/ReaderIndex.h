//===- ReaderIndex.h - Who reads each value of a block, in the block's order ------------------===//

#ifndef MTC_PASSES_KERNELS_READERINDEX_H
#define MTC_PASSES_KERNELS_READERINDEX_H

#include "ir/Mtc.h"

#include <map>
#include <set>

namespace mtc {

/// The order of a block's operations, and what reads each value or a view of it. A value may have
/// as many readers as the model has parameters, and as many operations may stand between two:
/// passes that compare kernels again and again ask this, in logarithmic time. MLIR's own order is
/// numbered anew, for the whole block, wherever operations have been created. A pass that replaces
/// kernels or moves views does it by this; views may be erased.
class ReaderIndex {
public:
  explicit ReaderIndex(mlir::Block &block);

  /// Whether `first` stands in front of `second`.
  bool isBefore(mlir::Operation *first, mlir::Operation *second) const {
    return positions.at(first) < positions.at(second);
  }
  /// Whether an operation that is neither kernel, constant, view nor access to a variable stands
  /// between two.
  bool hasCallBetween(mlir::Operation *first, mlir::Operation *second) const;
  /// Whether anything reads a value, or a view of it.
  bool isRead(mlir::Value root) const { return !readersOf(root).empty(); }
  /// Whether an operation in front of `op` reads a value, or a view of it.
  bool isReadBefore(mlir::Value root, mlir::Operation *op) const;
  /// Whether `op` or an operation behind it reads a value, or a view of it.
  bool isReadFrom(mlir::Value root, mlir::Operation *op) const;
  /// At most `most` kernels in front of `kernel` that read a value, or a view of it; the nearest
  /// first.
  llvm::SmallVector<KernelOp> kernelsBefore(mlir::Value root, KernelOp kernel, unsigned most) const;
  /// The same of kernels behind it.
  llvm::SmallVector<KernelOp> kernelsBehind(mlir::Value root, KernelOp kernel, unsigned most) const;

  /// Takes out a kernel that is about to vanish, and gives its position.
  int64_t remove(KernelOp kernel);
  /// Takes in a kernel that stands where the one with this position was.
  void insert(KernelOp kernel, int64_t position);
  /// Moves a view directly in front of an operation, or behind it.
  void moveViewBefore(mlir::Operation *view, mlir::Operation *op);
  void moveViewAfter(mlir::Operation *view, mlir::Operation *op);

private:
  using Readers = std::map<int64_t, mlir::Operation *>;
  const Readers &readersOf(mlir::Value root) const;
  void insertReadersOf(mlir::Value value, mlir::Value root);

  /// Even numbers; a view that has been moved has the odd one beside the operation's.
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  std::set<int64_t> calls;
  llvm::DenseMap<mlir::Value, Readers> readers; ///< By root.
};

} // namespace mtc

#endif // MTC_PASSES_KERNELS_READERINDEX_H
