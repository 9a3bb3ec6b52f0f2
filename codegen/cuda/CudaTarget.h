//===- CudaTarget.h - Kernels as launches on a GPU or in the emulator -------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDATARGET_H
#define MTC_CODEGEN_CUDA_CUDATARGET_H

#include "codegen/cuda/CudaDialect.h"
#include "codegen/gpu/LaunchPlan.h"
#include "codegen/target/Target.h"

namespace mtc::cuda {

/// Base class of the device and the emulated target: emits device code for kernels, code of the
/// target `cpu` for those on the host, and the program's tables.
class CudaTarget : public Target {
public:
  CudaTarget(TargetAttr target, cpu::Processor host, unsigned optLevel);

  llvm::StringRef refuseCopy(MemorySpace source, MemorySpace destination) const override;

  llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) override;
  llvm::Constant *describeCallCode(CallAttrInterface call, ConstantBuilder &builder) override;

  mlir::OwningOpRef<mlir::ModuleOp> emitLoops(const CodeSources &sources) override;

protected:
  mlir::FailureOr<std::vector<std::string>> writeTexts(const CodeSources &sources,
                                                       KernelText form) override;

  using Use = llvm::function_ref<llvm::Error(size_t, OwnedModule)>;

  /// Returns the sources that become device code: kernels, and calls with device code.
  static CodeSources selectSources(const CodeSources &sources);
  /// Return the code of the kernels on the host, which are then in the program's tables.
  mlir::FailureOr<std::vector<CompiledObject>> compileForHost(const CodeSources &sources,
                                                              KernelCache *cache);
  mlir::FailureOr<std::vector<OwnedModule>> generateForHost(const CodeSources &sources);
  /// Returns a pointer to the MtcCpuProgram of the kernels on the host, or null if there are none.
  llvm::Constant *describeHost(ConstantBuilder &builder);
  /// Returns the launches of each selected source.
  llvm::SmallVector<llvm::SmallVector<gpu::Launch>> planSources(const CodeSources &sources) const;
  /// Returns the precision as part of the cache key, in addition to the sources' text.
  std::string describePrecision() const {
    return precision == ContractionPrecision::F32 ? "" : " " + stringifyEnum(precision).str();
  }
  /// Emits the selected sources, kernels first, and passes each translated device module and its
  /// index to `use`, on the context's threads.
  mlir::LogicalResult forEachModule(const CodeSources &sources, Use use);
  /// Returns the text of a translated device module after this target's own lowering.
  virtual llvm::Expected<std::string> printModule(llvm::Module &module, KernelText form) = 0;
  /// Returns the pointer to the emulated function of a launch.
  virtual llvm::Constant *describeFunction(llvm::StringRef symbol, ConstantBuilder &builder) = 0;
  /// Returns the index of the image that contains the launch of this name.
  virtual uint32_t imageOf(llvm::StringRef symbol) { return 0; }

  ContractionPrecision precision;

private:
  /// Returns the kernels on the host.
  static CodeSources selectForHost(const CodeSources &sources);
  /// Returns a pointer to an MtcGpuKernel.
  llvm::Constant *describeLaunches(llvm::ArrayRef<gpu::Launch> launches, ConstantBuilder &builder);

  std::unique_ptr<Target> hostTarget;
  bool hasHostKernels = false;
};

/// Creates the target that compiles kernels to GPU machine code and PTX.
std::unique_ptr<Target> createDeviceTarget(TargetAttr target, cpu::Processor host,
                                           unsigned optLevel);
/// Creates the target that compiles kernels for the host processor, to run in the emulator.
std::unique_ptr<Target> createEmulatedTarget(TargetAttr target, cpu::Processor host,
                                             unsigned optLevel);

/// These functions implement KnownTarget's interface (codegen/Targets.cpp). `detail` is a list of
/// architectures; see `parseArchitectures`.
llvm::Expected<TargetAttrInterface> parseTarget(llvm::StringRef detail, mlir::MLIRContext &context,
                                                const TargetFlags &flags);
llvm::Expected<std::unique_ptr<Target>> createTarget(mlir::Attribute attribute, unsigned optLevel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUDATARGET_H
