//===- VariableTable.h - The variables of a program, and what they start as -------------------===//

#ifndef MTC_CODEGEN_PROGRAM_VARIABLETABLE_H
#define MTC_CODEGEN_PROGRAM_VARIABLETABLE_H

#include "codegen/target/ConstantBuilder.h"
#include "ir/Mtc.h"

#include <optional>

namespace mtc {

/// An MtcTensor (runtime/abi/program.h) at an offset of the arena of a space.
llvm::Constant *describeTensor(ConstantBuilder &builder, llvm::StringRef name,
                               mlir::RankedTensorType type, int64_t offset,
                               MemorySpace space = MemorySpace::Device);

/// The elements as they lie in memory; i1 takes a byte.
std::string rawBytes(mlir::ElementsAttr elements);

/// An MtcTensorImage.
llvm::Constant *describeImage(ConstantBuilder &builder, TensorImageAttr image);

/// An MtcScalars: where the runtime writes what it sets before a step.
llvm::Constant *describeScalars(ConstantBuilder &builder, mlir::ModuleOp placed);

/// The array of MtcVariable.
class VariableTable {
public:
  explicit VariableTable(ConstantBuilder &builder) : c(builder) {}

  /// Adds the variables of an allocated program. Fails with a diagnostic at the one that has no
  /// slice, no value, or belongs to none.
  mlir::LogicalResult add(mlir::ModuleOp placed);

  /// A variable's index in the array.
  std::optional<uint32_t> find(llvm::StringRef name) const;
  llvm::ArrayRef<llvm::Constant *> getEntries() const { return entries; }

private:
  ConstantBuilder &c;
  llvm::StringMap<uint32_t> index;
  llvm::SmallVector<llvm::Constant *> entries;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_VARIABLETABLE_H
