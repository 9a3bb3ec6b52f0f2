//===- MicroStepSplit.h - Forward and backward part of a stage's micro-step -------------------===//

#ifndef MTC_PASSES_MEMORY_MICROSTEPSPLIT_H
#define MTC_PASSES_MEMORY_MICROSTEPSPLIT_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mtc {

/// The parts of a micro-step of a pipeline stage that receives gradients. The forward part has the
/// operations on which messages to later stages depend, and the backward part all others. Several
/// micro-steps may be between their parts. The backward part therefore reads the values of the
/// forward part from slots, of which each micro-step in progress has one.
class MicroStepSplit {
public:
  /// Returns nothing for a function that receives no gradients.
  static std::optional<MicroStepSplit> find(mlir::func::FuncOp function);

  /// Fails with a diagnostic if the parts cannot run apart from each other: if the forward part
  /// depends on gradients, or if one part accesses a variable that the other one writes.
  mlir::LogicalResult verify() const;

  bool isForward(mlir::Operation *op) const { return forward.contains(op); }
  /// Returns the last operation of the forward part, in block order.
  mlir::Operation *getLastForward() const { return lastForward; }
  /// Returns the values that need a slot: arguments and results of the forward part that the
  /// backward part uses, possibly through views. The backward part can read variables itself.
  mlir::ArrayRef<mlir::Value> getSaved() const { return saved.getArrayRef(); }
  bool isSaved(mlir::Value root) const { return saved.contains(root); }
  /// Returns the slot of a message in which a saved value, or a reshaped one, is stored anyway: the
  /// message keeps it until the backward part has ended. Null if there is none.
  WriteOp findSent(mlir::Value root) const { return sent.lookup(root); }
  /// Returns the number of micro-steps that may be between their parts.
  int64_t getCopies() const { return copies; }

private:
  explicit MicroStepSplit(mlir::Block &block) : block(block) {}

  void addForward(mlir::ArrayRef<mlir::Operation *> writes);
  void addPreparations();
  void findSaved();
  bool isRepeatable(mlir::Value root) const;

  mlir::Block &block;
  int64_t copies = 1;
  llvm::DenseSet<mlir::Attribute> written;   ///< variables that the function writes
  llvm::DenseSet<mlir::Attribute> gradients; ///< received ones
  llvm::DenseSet<mlir::Operation *> forward;
  mlir::Operation *lastForward = nullptr;
  llvm::DenseMap<mlir::Value, WriteOp> sent;
  llvm::SetVector<mlir::Value> saved;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MICROSTEPSPLIT_H
