//===- SharedOperations.h - Operations of several pipeline stages -----------------------------===//

#ifndef MTC_PASSES_PIPELINE_SHAREDOPERATIONS_H
#define MTC_PASSES_PIPELINE_SHAREDOPERATIONS_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mtc {

/// Returns whether every stage has the variable: numbers that the runtime or all stages compute,
/// and constants.
bool isOfAllStages(VariableOp variable);

/// Operations that each stage which uses them computes for itself: reads of variables, and cheap
/// functions of these, of inputs and of constants.
class SharedOperations {
public:
  explicit SharedOperations(mlir::func::FuncOp function);

  bool contains(mlir::Operation *op) const { return variables.contains(op); }
  /// Returns the variables that the value of a shared operation depends on, except scalars, which
  /// every stage has.
  llvm::ArrayRef<mlir::StringAttr> variablesOf(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::StringAttr, 1>> variables;
};

/// The operations of a micro-step that compute the loss, and those that compute gradients.
struct MicroStepParts {
  explicit MicroStepParts(mlir::func::FuncOp microStep);

  llvm::DenseSet<mlir::Operation *> forward; ///< those of the forward part
};

/// Returns the variable that owns the state or copy of a variable, or itself.
VariableOp rootOfVariable(mlir::SymbolTable &symbols, mlir::StringAttr name);

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_SHAREDOPERATIONS_H
