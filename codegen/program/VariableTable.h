//===- VariableTable.h - Tables of a program's variables and their initial values -------------===//

#ifndef MTC_CODEGEN_PROGRAM_VARIABLETABLE_H
#define MTC_CODEGEN_PROGRAM_VARIABLETABLE_H

#include "codegen/target/ConstantBuilder.h"
#include "ir/Mtc.h"

#include <optional>

namespace mtc {

/// Returns an MtcTensor (runtime/abi/program.h) at an offset of the arena of a memory space.
llvm::Constant *describeTensor(ConstantBuilder &builder, llvm::StringRef name,
                               mlir::RankedTensorType type, int64_t offset,
                               MemorySpace space = MemorySpace::Device);

/// Returns the offset of a variable, or -1 if it belongs to another pipeline stage.
int64_t offsetOrNone(VariableOp variable);

/// Returns the elements in their memory layout; i1 occupies a byte.
std::string rawBytes(mlir::ElementsAttr elements);

/// Returns an MtcTensorImage.
llvm::Constant *describeImage(ConstantBuilder &builder, TensorImageAttr image);

/// Returns an MtcScalars: the offsets of the scalars that the runtime sets before a step.
llvm::Constant *describeScalars(ConstantBuilder &builder, mlir::ModuleOp placed);

/// Returns an MtcSetting for each hyperparameter that flags of the program set.
std::vector<llvm::Constant *> describeSettings(ConstantBuilder &builder, mlir::ModuleOp placed);

/// Returns an MtcAbsentSetting for each hyperparameter that other programs have.
std::vector<llvm::Constant *> describeAbsentSettings(ConstantBuilder &builder,
                                                     mlir::ModuleOp placed);

/// Builds the array of MtcVariable.
class VariableTable {
public:
  explicit VariableTable(ConstantBuilder &builder) : c(builder) {}

  /// Adds the variables of an allocated program. Fails with a diagnostic at a variable that has no
  /// offset in the arena, no initial value, or that belongs to a parameter that does not exist.
  mlir::LogicalResult add(mlir::ModuleOp placed);

  /// Returns a variable's index in the array.
  std::optional<uint32_t> find(llvm::StringRef name) const;
  llvm::ArrayRef<llvm::Constant *> getEntries() const { return entries; }
  /// Returns an MtcAdapter for each adapter, which refers to variables by index.
  llvm::SmallVector<llvm::Constant *> describeAdapters(mlir::ModuleOp placed) const;

private:
  llvm::Constant *zeroRange(VariableOp variable);

  ConstantBuilder &c;
  llvm::StringMap<uint32_t> index;
  llvm::SmallVector<llvm::Constant *> entries;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_VARIABLETABLE_H
