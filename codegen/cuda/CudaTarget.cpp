//===- CudaTarget.cpp - Kernels as launches on a GPU, or in its emulator ----------------------===//

#include "codegen/cuda/CudaTarget.h"

#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/KernelEmitter.h"
#include "codegen/cuda/LibraryCalls.h"
#include "codegen/program/ProgramTables.h"
#include "runtime/abi/program.h"

#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

TargetInfo CudaTarget::getInfo() const {
  TargetInfo info;
  describeLibraryCalls(info);
  info.kernelScratch = [this](KernelOp kernel) { return scratchBytes(normalizeKernel(kernel)); };
  return info;
}

int64_t CudaTarget::scratchBytes(const NormalKernel &kernel) const {
  return planLaunches(kernel, "").scratchBytes;
}

/// Says how many bytes the parameters point to: inputs, outputs, scratch and a fault, if any.
static void setExtents(gpu::GPUModuleOp module, const NormalKernel &kernel, int64_t scratchBytes) {
  SmallVector<int64_t> extents;
  for (RankedTensorType type : llvm::concat<const RankedTensorType>(kernel.inputs, kernel.outputs))
    extents.push_back(byteSize(type));
  if (scratchBytes > 0)
    extents.push_back(scratchBytes);
  extents.push_back(sizeof(MtcFault));
  Builder b(module.getContext());
  for (auto function : module.getOps<gpu::GPUFuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (extents[i] > 0)
        function.setArgAttr(i, LLVM::LLVMDialect::getDereferenceableAttrName(),
                            b.getI64IntegerAttr(extents[i]));
}

static OwningOpRef<ModuleOp> emitKernels(ArrayRef<KernelFunctionOp> kernels) {
  MLIRContext *context = kernels.front()->getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  for (KernelFunctionOp function : kernels) {
    NormalKernel kernel = normalizeKernel(function);
    StringRef name = function.getSymName();
    LaunchPlan plan = planLaunches(kernel, name);
    setExtents(emitKernel(kernel, plan, kernelSymbol(name), *module), kernel, plan.scratchBytes);
  }
  return module;
}

LogicalResult CudaTarget::forEachKernel(ArrayRef<KernelFunctionOp> kernels, Use use) {
  if (kernels.empty())
    return success();
  OwningOpRef<ModuleOp> emitted = emitKernels(kernels);
  if (failed(lowerDeviceModules(*emitted)))
    return failure();
  SmallVector<gpu::GPUModuleOp> modules(emitted->getOps<gpu::GPUModuleOp>());
  return failableParallelForEachN(
      emitted->getContext(), 0, kernels.size(), [&](size_t i) -> LogicalResult {
        OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
        owned.module = translateDeviceModule(modules[i], *owned.context);
        if (!owned.module)
          return mlir::emitError(kernels[i]->getLoc(), "a kernel cannot be translated to LLVM IR");
        if (llvm::Error error = use(i, std::move(owned)))
          return mlir::emitError(kernels[i]->getLoc(), llvm::toString(std::move(error)));
        return success();
      });
}

LogicalResult CudaTarget::printKernels(ArrayRef<KernelFunctionOp> kernels, KernelText form,
                                       raw_ostream &os) {
  if (form == KernelText::Loops) {
    if (kernels.empty())
      return success();
    OwningOpRef<ModuleOp> emitted = emitKernels(kernels);
    for (Operation &kernel : *emitted->getBody())
      os << kernel << '\n';
    return success();
  }
  std::vector<std::string> texts(kernels.size());
  auto print = [&](size_t i, OwnedModule owned) -> llvm::Error {
    llvm::Expected<std::string> text = printModule(*owned.module, form);
    if (!text)
      return text.takeError();
    texts[i] = std::move(*text);
    return llvm::Error::success();
  };
  if (failed(forEachKernel(kernels, print)))
    return failure();
  for (const std::string &text : texts)
    os << text;
  return success();
}

llvm::Constant *CudaTarget::describeKernel(KernelFunctionOp kernel, ConstantBuilder &c) {
  SmallVector<llvm::Constant *> launches;
  auto extents = [&](const std::array<int64_t, 3> &values) {
    return c.structure({c.u32(values[0]), c.u32(values[1]), c.u32(values[2])});
  };
  for (const Launch &launch : planLaunches(normalizeKernel(kernel), kernel.getSymName()).launches)
    launches.push_back(
        c.structure({c.string(launch.symbol), describeFunction(launch.symbol, c),
                     extents(launch.grid), extents(launch.block), c.u32(launch.sharedBytes)}));
  return c.array(
      {c.structure({c.u32(imageOf(kernel)), c.u32(launches.size()), c.array(launches)})});
}

llvm::Expected<std::unique_ptr<Target>>
cuda::createTarget(StringRef detail, const CodegenOptions &options, cpu::Processor host) {
  auto architectures = parseArchitectures(detail);
  if (!architectures)
    return architectures.takeError();
  if (options.emulate)
    return createEmulatedTarget(options, std::move(host));
  return createDeviceTarget(options, std::move(host), std::move(*architectures));
}
