//===- DeviceModules.cpp - Lowering and printing of gpu modules -------------------------------===//

#include "tools/mtc-run/DeviceModules.h"

#include "codegen/cuda/Cubin.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/Resources.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace mtc;

/// Returns the number of threads per block of each kernel, by its symbol.
static llvm::StringMap<unsigned> findBlockSizes(ModuleOp module) {
  llvm::StringMap<unsigned> sizes;
  module.walk([&](mlir::gpu::GPUFuncOp function) {
    unsigned &size = sizes[function.getName()] = 1;
    if (auto block = function.getKnownBlockSizeAttr())
      for (int32_t extent : block.asArrayRef())
        size *= extent;
  });
  return sizes;
}

static llvm::Error printModule(Operation *gpuModule, const cuda::Architecture &architecture,
                               StringRef stage, unsigned optLevel,
                               const llvm::StringMap<unsigned> &blockSizes) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = cuda::translateDeviceModule(gpuModule, context);
  if (!translated)
    return llvm::createStringError("a gpu.module cannot be translated to LLVM IR");
  llvm::Expected<std::string> ptx = cuda::emitPtx(*translated, architecture, optLevel);
  if (!ptx)
    return ptx.takeError();
  if (stage == "asm") {
    llvm::outs() << *ptx;
    return llvm::Error::success();
  }
  llvm::Expected<cuda::Cubin> cubin =
      cuda::assemble(*ptx, translated->getName(), architecture, optLevel);
  if (!cubin)
    return cubin.takeError();
  if (stage == "cubin") {
    llvm::outs() << translated->getName() << ' ' << architecture.name() << ": "
                 << (cubin->code->getBuffer().starts_with("\x7f"
                                                          "ELF")
                         ? "ELF"
                         : "not ELF")
                 << '\n';
    return llvm::Error::success();
  }
  SmallVector<cuda::LaunchResources> launches;
  for (cuda::Resources &resources : cuda::readResources(cubin->log)) {
    unsigned threads = blockSizes.lookup(resources.symbol);
    launches.push_back({std::move(resources), threads});
  }
  cuda::printResources(launches, architecture, llvm::outs());
  return llvm::Error::success();
}

bool mtc::hasDeviceModules(ModuleOp module) {
  return !module.getOps<mlir::gpu::GPUModuleOp>().empty();
}

LogicalResult mtc::printDeviceModules(ModuleOp module, StringRef target, StringRef stage,
                                      unsigned optLevel) {
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  auto architectures = cuda::parseArchitectures(target.split(':').second);
  if (!architectures)
    return fail(architectures.takeError());
  llvm::StringMap<unsigned> blockSizes = findBlockSizes(module);
  if (failed(cuda::lowerDeviceModules(module)))
    return failure();
  if (stage == "resources")
    *architectures = cuda::onePerProcessor(*architectures);
  for (const cuda::Architecture &architecture : *architectures)
    for (auto gpuModule : module.getOps<mlir::gpu::GPUModuleOp>())
      if (llvm::Error error = printModule(gpuModule, architecture, stage, optLevel, blockSizes))
        return fail(std::move(error));
  return success();
}
