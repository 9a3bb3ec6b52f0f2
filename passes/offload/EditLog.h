//===- EditLog.h - Undoable edits of a module -------------------------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_EDITLOG_H
#define MTC_PASSES_OFFLOAD_EDITLOG_H

#include "ir/Mtc.h"

#include "mlir/IR/PatternMatch.h"

#include <functional>

namespace mtc {

/// Records edits of a module, which can be undone in reverse order.
class EditLog {
public:
  /// Notifies `listener` of each edit.
  explicit EditLog(mlir::RewriterBase::Listener &listener) : listener(listener) {}

  /// Records an operation that was inserted.
  template <typename Op> Op insert(Op op) {
    recordInsertion(op);
    return op;
  }
  void setOperand(mlir::OpOperand &operand, mlir::Value value);
  void moveBefore(mlir::Operation *op, mlir::Operation *place);
  void setSpace(VariableOp variable, MemorySpace space);
  void setOnHost(KernelOp kernel);
  void setSize(TransferSlotsOp slots, int64_t bytes);

  size_t mark() const { return undoing.size(); }
  /// Undoes the edits since a mark.
  void undoTo(size_t mark);
  /// Makes all edits permanent.
  void keep() { undoing.clear(); }

private:
  void recordInsertion(mlir::Operation *op);

  mlir::RewriterBase::Listener &listener;
  std::vector<std::function<void()>> undoing;
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_EDITLOG_H
