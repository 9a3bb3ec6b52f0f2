//===- StepTables.h - The steps of a program: kernels, calls and copies -----------------------===//

#ifndef MTC_CODEGEN_PROGRAM_STEPTABLES_H
#define MTC_CODEGEN_PROGRAM_STEPTABLES_H

#include "codegen/target/ConstantBuilder.h"
#include "ir/Mtc.h"

namespace mtc {

class Target;

/// The arrays of MtcKernel and MtcCall (runtime/abi/program.h), and the functions whose operations
/// name them by their indices.
class StepTables {
public:
  StepTables(ConstantBuilder &builder, Target &target) : c(builder), target(target) {}

  /// Adds the kernels of an allocated program, which steps launch.
  void addKernels(mlir::ModuleOp placed);
  /// An MtcFunction of a step, and the calls in it; a step that is null does nothing. Null after a
  /// diagnostic.
  llvm::Constant *addFunction(StepOp step);

  llvm::ArrayRef<llvm::Constant *> getKernels() const { return kernels; }
  llvm::ArrayRef<llvm::Constant *> getCalls() const { return calls; }

private:
  llvm::Constant *describeOperation(mlir::Operation *op, mlir::ArrayRef<int64_t> waits);
  uint32_t addCall(CallOp call);
  llvm::SmallVector<llvm::Constant *> describeWrites(mlir::Operation *op);

  ConstantBuilder &c;
  Target &target;
  bool checksMemory = false;
  llvm::StringMap<uint32_t> kernelIndex;
  llvm::SmallVector<int64_t> scratchBytes; ///< of each kernel
  /// The description and the code of each call.
  llvm::DenseMap<mlir::Attribute, std::pair<llvm::Constant *, llvm::Constant *>> descriptions;
  llvm::DenseMap<llvm::Constant *, uint32_t> callIndex;
  llvm::SmallVector<llvm::Constant *> kernels, calls;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_STEPTABLES_H
