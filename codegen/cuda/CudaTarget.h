//===- CudaTarget.h - Kernels as launches on a GPU, or in its emulator ------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDATARGET_H
#define MTC_CODEGEN_CUDA_CUDATARGET_H

#include "codegen/Target.h"
#include "codegen/cuda/Architecture.h"

namespace mtc::cuda {

/// What both kinds of the target have in common: how kernels become device code, and the tables.
class CudaTarget : public Target {
public:
  CudaTarget(const CodegenOptions &options, cpu::Processor host)
      : Target(options, std::move(host)) {}

  TargetInfo getInfo() const override;
  int64_t scratchBytes(const NormalKernel &kernel) const override;

  mlir::LogicalResult printKernels(llvm::ArrayRef<KernelFunctionOp> kernels, KernelText form,
                                   llvm::raw_ostream &os) override;
  llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) override;

protected:
  using Use = llvm::function_ref<llvm::Error(size_t, OwnedModule)>;

  /// Emits kernels and hands each to `use` as a translated device module, on the context's threads.
  mlir::LogicalResult forEachKernel(llvm::ArrayRef<KernelFunctionOp> kernels, Use use);
  /// The text of a translated device module as it is after this target's own stages.
  virtual llvm::Expected<std::string> printModule(llvm::Module &module, KernelText form) = 0;
  /// The pointer to the emulated function of a launch.
  virtual llvm::Constant *describeFunction(llvm::StringRef symbol, ConstantBuilder &builder) = 0;
  virtual uint32_t imageOf(KernelFunctionOp kernel) { return 0; }
};

/// Kernels as machine code of GPUs.
std::unique_ptr<Target> createDeviceTarget(const CodegenOptions &options, cpu::Processor host,
                                           llvm::SmallVector<Architecture> architectures);
/// Kernels as code of the host's processor, for the emulator.
std::unique_ptr<Target> createEmulatedTarget(const CodegenOptions &options, cpu::Processor host);

/// One of them, by CodegenOptions::emulate. `detail` names architectures; see `parseArchitectures`.
llvm::Expected<std::unique_ptr<Target>>
createTarget(llvm::StringRef detail, const CodegenOptions &options, cpu::Processor host);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUDATARGET_H
