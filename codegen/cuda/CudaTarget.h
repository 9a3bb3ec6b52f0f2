//===- CudaTarget.h - Kernels as launches on a GPU, or in its emulator ------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDATARGET_H
#define MTC_CODEGEN_CUDA_CUDATARGET_H

#include "codegen/cuda/CudaDialect.h"
#include "codegen/cuda/LaunchPlan.h"
#include "codegen/target/Target.h"

namespace mtc::cuda {

/// What both kinds of the target have in common: how kernels become device code, and the tables.
class CudaTarget : public Target {
public:
  CudaTarget(TargetAttr target, cpu::Processor host, unsigned optLevel)
      : Target(target, std::move(host), optLevel), precision(target.getContractionPrecision()) {}

  llvm::StringRef refuseCopy(MemorySpace source, MemorySpace destination) const override;

  llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) override;
  llvm::Constant *describeCallCode(CallAttrInterface call, ConstantBuilder &builder) override;

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
  std::string describePrecision() const {
    return precision == ContractionPrecision::F32 ? "" : " " + stringifyEnum(precision).str();
  }
  /// Emits selected sources and hands each to `use` with its number, kernels first, as a translated
  /// device module, on the context's threads.
  mlir::LogicalResult forEachModule(const CodeSources &sources, Use use);
  /// The text of a translated device module as it is after this target's own stages.
  virtual llvm::Expected<std::string> printModule(llvm::Module &module, KernelText form) = 0;
  /// The pointer to the emulated function of a launch.
  virtual llvm::Constant *describeFunction(llvm::StringRef symbol, ConstantBuilder &builder) = 0;
  /// The image of what has a launch of this name.
  virtual uint32_t imageOf(llvm::StringRef symbol) { return 0; }

  ContractionPrecision precision;

private:
  /// A pointer to an MtcCudaKernel.
  llvm::Constant *describeLaunches(llvm::ArrayRef<Launch> launches, ConstantBuilder &builder);
};

/// Kernels as machine code of GPUs, and as PTX.
std::unique_ptr<Target> createDeviceTarget(TargetAttr target, cpu::Processor host,
                                           unsigned optLevel);
/// Kernels as code of the host's processor, for the emulator.
std::unique_ptr<Target> createEmulatedTarget(TargetAttr target, cpu::Processor host,
                                             unsigned optLevel);

/// As KnownTarget has them (codegen/Targets.cpp). `detail` names architectures; see
/// `parseArchitectures`.
llvm::Expected<TargetAttrInterface> parseTarget(llvm::StringRef detail, mlir::MLIRContext &context,
                                                const TargetFlags &flags);
llvm::Expected<std::unique_ptr<Target>> createTarget(mlir::Attribute attribute, unsigned optLevel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUDATARGET_H
