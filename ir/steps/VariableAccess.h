//===- VariableAccess.h - Operations that read and write variables ----------------------------===//

#ifndef MTC_IR_STEPS_VARIABLEACCESS_H
#define MTC_IR_STEPS_VARIABLEACCESS_H

#include "ir/Mtc.h"

#include "llvm/ADT/DenseMap.h"

namespace mtc {

/// Return the variables that an operation reads or writes; empty for other operations.
mlir::SmallVector<mlir::FlatSymbolRefAttr> readVariables(mlir::Operation *op);
mlir::SmallVector<mlir::FlatSymbolRefAttr> writtenVariables(mlir::Operation *op);

/// Returns the distance in bytes between two copies of a variable, which contains padding.
int64_t bytesOfCopy(VariableOp variable);

/// Maps each variable to the operations of a block that read and write it, in the block's order.
class VariableAccesses {
public:
  explicit VariableAccesses(mlir::Block &block);
  mlir::ArrayRef<mlir::Operation *> readersOf(mlir::FlatSymbolRefAttr variable) const {
    return find(readers, variable);
  }
  mlir::ArrayRef<mlir::Operation *> writersOf(mlir::FlatSymbolRefAttr variable) const {
    return find(writers, variable);
  }

private:
  using ByVariable = llvm::DenseMap<mlir::Attribute, mlir::SmallVector<mlir::Operation *, 2>>;
  static mlir::ArrayRef<mlir::Operation *> find(const ByVariable &map, mlir::Attribute variable) {
    auto found = map.find(variable);
    return found == map.end() ? mlir::ArrayRef<mlir::Operation *>() : found->second;
  }

  ByVariable readers, writers;
};

} // namespace mtc

#endif // MTC_IR_STEPS_VARIABLEACCESS_H
