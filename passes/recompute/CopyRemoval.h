//===- CopyRemoval.h - Removal of a recomputed copy -------------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_COPYREMOVAL_H
#define MTC_PASSES_RECOMPUTE_COPYREMOVAL_H

#include "passes/cost/OperationTimes.h"
#include "passes/recompute/Rematerializer.h"

namespace mtc {

/// Replaces a copy by its original and removes copies without users; can be undone.
class CopyRemoval {
public:
  /// Notifies `listener` of each change.
  CopyRemoval(OperationTimes &times, mlir::RewriterBase::Listener &listener)
      : times(times), listener(listener) {}
  ~CopyRemoval();
  CopyRemoval(const CopyRemoval &) = delete;
  CopyRemoval &operator=(const CopyRemoval &) = delete;

  /// Returns false, without any change, if a user of the copy cannot use the original.
  bool remove(const Rematerializer::Added::Copy &copy);
  /// Returns the saved seconds.
  double getTime() const { return time; }
  void undo();

private:
  void removeUnread(mlir::Operation *op);

  OperationTimes &times;
  mlir::RewriterBase::Listener &listener;
  std::vector<std::function<void()>> undoing;
  mlir::SmallVector<mlir::Operation *> removed;
  double time = 0;
};

/// Removals in the order in which they were made.
using Removals = std::vector<std::unique_ptr<CopyRemoval>>;

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_COPYREMOVAL_H
