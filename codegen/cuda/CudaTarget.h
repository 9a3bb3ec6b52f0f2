//===- CudaTarget.h - Kernels as launches on a GPU, or in its emulator ------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDATARGET_H
#define MTC_CODEGEN_CUDA_CUDATARGET_H

#include "codegen/Target.h"
#include "codegen/cuda/Architecture.h"
#include "codegen/cuda/LaunchPlan.h"

namespace mtc::cuda {

/// What both kinds of the target have in common: how kernels become device code, and the tables.
class CudaTarget : public Target {
public:
  CudaTarget(const CodegenOptions &options, cpu::Processor host)
      : Target(options, std::move(host)) {}

  TargetInfo getInfo() const override;
  int64_t scratchBytes(const NormalKernel &kernel) const override;

  llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) override;
  llvm::Constant *describeCallCode(const CallDescription &call, ConstantBuilder &builder) override;

protected:
  mlir::OwningOpRef<mlir::ModuleOp> emitLoops(const CodeSources &sources) override;
  mlir::FailureOr<std::vector<std::string>> writeTexts(const CodeSources &sources,
                                                       KernelText form) override;

  using Use = llvm::function_ref<llvm::Error(size_t, OwnedModule)>;

  /// The sources that become device code: kernels, and calls that are not a library's.
  static CodeSources selectSources(const CodeSources &sources);
  /// The launches of each selected source.
  llvm::SmallVector<llvm::SmallVector<Launch>> planSources(const CodeSources &sources) const;
  /// What the code of all sources follows from beside their text.
  std::string describePrecision() const { return options.usesTf32 ? " tf32" : ""; }
  /// Emits selected sources and hands each to `use` with its number, kernels first, as a translated
  /// device module, on the context's threads.
  mlir::LogicalResult forEachModule(const CodeSources &sources, Use use);
  /// The text of a translated device module as it is after this target's own stages.
  virtual llvm::Expected<std::string> printModule(llvm::Module &module, KernelText form) = 0;
  /// The pointer to the emulated function of a launch.
  virtual llvm::Constant *describeFunction(llvm::StringRef symbol, ConstantBuilder &builder) = 0;
  /// The image of what has a launch of this name.
  virtual uint32_t imageOf(llvm::StringRef symbol) { return 0; }

private:
  /// A pointer to an MtcCudaKernel.
  llvm::Constant *describeLaunches(llvm::ArrayRef<Launch> launches, ConstantBuilder &builder);
};

/// Kernels as machine code of GPUs, and as PTX.
std::unique_ptr<Target> createDeviceTarget(const CodegenOptions &options, cpu::Processor host,
                                           llvm::SmallVector<Architecture> architectures);
/// Kernels as code of the host's processor, for the emulator.
std::unique_ptr<Target> createEmulatedTarget(const CodegenOptions &options, cpu::Processor host);

/// One of them, by CodegenOptions::emulate. `detail` names architectures; see `parseArchitectures`.
llvm::Expected<std::unique_ptr<Target>>
createTarget(llvm::StringRef detail, const CodegenOptions &options, cpu::Processor host);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUDATARGET_H
