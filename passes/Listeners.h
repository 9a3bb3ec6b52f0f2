//===- Listeners.h - A rewrite listener that forwards to two others ---------------------------===//

#ifndef MTC_PASSES_LISTENERS_H
#define MTC_PASSES_LISTENERS_H

#include "mlir/IR/PatternMatch.h"

namespace mtc {

/// Forwards each notification to two listeners.
class Listeners : public mlir::RewriterBase::Listener {
public:
  Listeners(mlir::RewriterBase::Listener &first, mlir::RewriterBase::Listener &second)
      : first(first), second(second) {}

  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override {
    first.notifyOperationInserted(op, previous);
    second.notifyOperationInserted(op, previous);
  }
  void notifyOperationModified(mlir::Operation *op) override {
    first.notifyOperationModified(op);
    second.notifyOperationModified(op);
  }
  void notifyOperationErased(mlir::Operation *op) override {
    first.notifyOperationErased(op);
    second.notifyOperationErased(op);
  }

private:
  mlir::RewriterBase::Listener &first, &second;
};

} // namespace mtc

#endif // MTC_PASSES_LISTENERS_H
