//===- VariableFamilies.h - Variables that are divided together -------------------------------===//

#ifndef MTC_PASSES_SPLITTING_VARIABLEFAMILIES_H
#define MTC_PASSES_SPLITTING_VARIABLEFAMILIES_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mtc {

/// A parameter with its gradient, low half and working copy, which have its extents, or a state
/// such as running statistics.
struct VariableFamily {
  llvm::SmallVector<VariableOp> variables;
  llvm::SmallVector<mlir::Operation *> accesses; ///< mtc.read and mtc.write, of all functions
  mlir::RankedTensorType type;                   ///< of the parameter
  bool isDivisible = true;

  /// Returns whether the variables can be divided like this: those with padding only along its
  /// axis.
  bool canSplit(AxisSplitAttr split) const;
};

/// The families of a module's parameters, by the name of the parameter.
class VariableFamilies {
public:
  explicit VariableFamilies(mlir::ModuleOp module);

  /// Returns the name of the family that a variable belongs to, or an empty string if the variable
  /// is not divided.
  llvm::StringRef nameOf(llvm::StringRef variable) const;
  const VariableFamily &get(llvm::StringRef name) const { return families.find(name)->second; }
  const llvm::MapVector<llvm::StringRef, VariableFamily> &all() const { return families; }

private:
  llvm::MapVector<llvm::StringRef, VariableFamily> families;
  llvm::StringMap<llvm::StringRef> names;
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_VARIABLEFAMILIES_H
