//===- CudaTarget.cpp - Kernels as launches on a GPU or in the emulator -----------------------===//

#include "codegen/cuda/CudaTarget.h"

#include "codegen/cpu/CpuTarget.h"
#include "codegen/cuda/Architecture.h"
#include "codegen/cuda/DeviceCall.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/GpuFigures.h"
#include "codegen/cuda/Hardware.h"
#include "codegen/gpu/KernelEmitter.h"
#include "codegen/program/ProgramTables.h"
#include "runtime/abi/cuda.h"
#include "runtime/abi/program.h"

#include "mlir/IR/Threading.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;
using namespace mtc::gpu;

static_assert(static_cast<int>(ContractionPrecision::F32) == MTC_CUDA_F32 &&
              static_cast<int>(ContractionPrecision::TF32) == MTC_CUDA_TF32);

CudaTarget::CudaTarget(TargetAttr target, cpu::Processor host, unsigned optLevel)
    : Target(target, std::move(host), optLevel), precision(target.getContractionPrecision()),
      hostTarget(llvm::cantFail(cpu::createTarget(target.getHostTarget(), optLevel))) {}

StringRef CudaTarget::refuseCopy(MemorySpace source, MemorySpace destination) const {
  for (MemorySpace space : {source, destination})
    if (space == MemorySpace::Host)
      return "GPU copies need pinned host memory: 'pinned_host'";
  if (source != MemorySpace::Device && destination != MemorySpace::Device)
    return "GPU copies need device memory as source or destination";
  return Target::refuseCopy(source, destination);
}

/// Sets the sizes of the buffers that parameters point to: inputs, outputs, scratch and fault, if
/// any.
static void setExtents(mlir::gpu::GPUModuleOp module, const NormalKernel &kernel,
                       int64_t scratchBytes) {
  SmallVector<int64_t> extents;
  for (RankedTensorType type : llvm::concat<const RankedTensorType>(kernel.inputs, kernel.outputs))
    extents.push_back(byteSize(type));
  if (scratchBytes > 0)
    extents.push_back(scratchBytes);
  extents.push_back(sizeof(MtcFault));
  Builder b(module.getContext());
  for (auto function : module.getOps<mlir::gpu::GPUFuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (extents[i] > 0)
        function.setArgAttr(i, LLVM::LLVMDialect::getDereferenceableAttrName(),
                            b.getI64IntegerAttr(extents[i]));
}

OwningOpRef<ModuleOp> CudaTarget::emitLoops(const CodeSources &sources) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(sources.context));
  const CodeSources ofDevice = selectSources(sources);
  for (KernelFunctionOp function : ofDevice.kernels) {
    NormalKernel kernel = normalizeKernel(function);
    const LaunchPlan &plan = planOf(function);
    setExtents(emitKernel(kernel, plan, hardware, function.getSymName(), *module), kernel,
               plan.scratchBytes);
  }
  OwningOpRef<ModuleOp> ofHost = hostTarget->emitLoops(selectForHost(sources));
  Block &body = *module->getBody();
  body.getOperations().splice(body.end(), ofHost->getBody()->getOperations());
  return module;
}

CodeSources CudaTarget::selectSources(const CodeSources &sources) {
  CodeSources result{sources.context, {}, {}, sources.notify};
  llvm::copy_if(sources.kernels, std::back_inserter(result.kernels),
                [](KernelFunctionOp kernel) { return !kernel.getOnHost(); });
  llvm::copy_if(sources.calls, std::back_inserter(result.calls),
                [](CallAttrInterface call) { return planDeviceCall(call).has_value(); });
  return result;
}

CodeSources CudaTarget::selectForHost(const CodeSources &sources) {
  CodeSources result{sources.context, {}, {}, sources.notify};
  llvm::copy_if(sources.kernels, std::back_inserter(result.kernels),
                [](KernelFunctionOp kernel) { return kernel.getOnHost(); });
  return result;
}

FailureOr<std::vector<CompiledObject>> CudaTarget::compileForHost(const CodeSources &all,
                                                                  KernelCache *cache) {
  CodeSources sources = selectForHost(all);
  hasHostKernels = !sources.kernels.empty();
  if (!hasHostKernels)
    return std::vector<CompiledObject>();
  return hostTarget->compile(sources, cache);
}

FailureOr<std::vector<OwnedModule>> CudaTarget::generateForHost(const CodeSources &all) {
  CodeSources sources = selectForHost(all);
  hasHostKernels = !sources.kernels.empty();
  if (!hasHostKernels)
    return std::vector<OwnedModule>();
  return hostTarget->generateModules(sources);
}

llvm::Constant *CudaTarget::describeHost(ConstantBuilder &c) {
  return hasHostKernels ? hostTarget->describeProgram(c) : c.null();
}

SmallVector<SmallVector<Launch>> CudaTarget::planSources(const CodeSources &sources) const {
  SmallVector<SmallVector<Launch>> result;
  for (KernelFunctionOp kernel : sources.kernels)
    result.push_back(planOf(kernel).nameLaunches(kernel.getSymName()));
  for (CallAttrInterface call : sources.calls)
    result.push_back(planDeviceCall(call, precision)->launches());
  return result;
}

LogicalResult CudaTarget::forEachModule(const CodeSources &sources, Use use) {
  const size_t kernels = sources.kernels.size();
  OwningOpRef<ModuleOp> emitted = emitLoops(sources);
  if (failed(lowerDeviceModules(*emitted)))
    return failure();
  SmallVector<mlir::gpu::GPUModuleOp> modules(emitted->getOps<mlir::gpu::GPUModuleOp>());
  auto generate = [&](size_t i,
                      llvm::LLVMContext &context) -> llvm::Expected<std::unique_ptr<llvm::Module>> {
    if (i >= kernels) {
      CallAttrInterface call = sources.calls[i - kernels];
      return buildDeviceCall(call, *planDeviceCall(call, precision), context);
    }
    std::unique_ptr<llvm::Module> module = translateDeviceModule(modules[i], context);
    if (!module)
      return llvm::createStringError("a kernel cannot be translated to LLVM IR");
    return module;
  };
  return failableParallelForEachN(
      sources.context, 0, kernels + sources.calls.size(), [&](size_t i) -> LogicalResult {
        OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
        auto module = generate(i, *owned.context);
        llvm::Error error = module.takeError();
        if (!error) {
          owned.module = std::move(*module);
          error = use(i, std::move(owned));
        }
        if (!error)
          return success();
        Location location =
            i < kernels ? sources.kernels[i]->getLoc() : UnknownLoc::get(sources.context);
        return mlir::emitError(location, llvm::toString(std::move(error)));
      });
}

FailureOr<std::vector<std::string>> CudaTarget::writeTexts(const CodeSources &all,
                                                           KernelText form) {
  CodeSources sources = selectSources(all);
  std::vector<std::string> texts(sources.kernels.size() + sources.calls.size());
  auto write = [&](size_t i, OwnedModule owned) {
    return printModule(*owned.module, form).moveInto(texts[i]);
  };
  if (failed(forEachModule(sources, write)))
    return failure();
  llvm::raw_string_ostream ofHost(texts.emplace_back());
  if (failed(hostTarget->print(selectForHost(all), form, ofHost)))
    return failure();
  return texts;
}

llvm::Constant *CudaTarget::describeLaunches(ArrayRef<Launch> launches, ConstantBuilder &c) {
  SmallVector<llvm::Constant *> entries;
  auto extents = [&](const std::array<int64_t, 3> &values) {
    return c.structure({c.u32(values[0]), c.u32(values[1]), c.u32(values[2])});
  };
  for (const Launch &launch : launches)
    entries.push_back(c.record(field<&MtcGpuLaunch::symbol>(launch.symbol),
                               field<&MtcGpuLaunch::emulated>(describeFunction(launch.symbol, c)),
                               field<&MtcGpuLaunch::grid>(extents(launch.grid)),
                               field<&MtcGpuLaunch::block>(extents(launch.block)),
                               field<&MtcGpuLaunch::shared_bytes>(launch.sharedBytes)));
  return c.array({c.record(field<&MtcGpuKernel::image>(imageOf(launches.front().symbol)),
                           field<&MtcGpuKernel::launch_count>(entries.size()),
                           field<&MtcGpuKernel::launches>(c.array(entries)))});
}

llvm::Constant *CudaTarget::describeKernel(KernelFunctionOp kernel, ConstantBuilder &c) {
  if (kernel.getOnHost())
    return hostTarget->describeKernel(kernel, c);
  return describeLaunches(planOf(kernel).nameLaunches(kernel.getSymName()), c);
}

llvm::Constant *CudaTarget::describeCallCode(CallAttrInterface call, ConstantBuilder &c) {
  std::optional<DeviceCall> plan = planDeviceCall(call, precision);
  return plan ? describeLaunches(plan->launches(), c) : c.null();
}

llvm::Expected<TargetAttrInterface> cuda::parseTarget(StringRef detail, MLIRContext &context,
                                                      const TargetFlags &flags) {
  auto architectures = parseArchitectures(detail);
  if (!architectures)
    return architectures.takeError();
  std::string names =
      llvm::join(llvm::map_range(*architectures, std::mem_fn(&Architecture::name)), ",");
  if (flags.isStatic)
    return llvm::createStringError(
        "--static: not supported by the target 'cuda', whose programs open "
        "the libraries of the NVIDIA driver");
  if (auto host = cpu::describeProcessor(flags.cpu, flags.features); host && !host->isOfHost())
    return llvm::createStringError(
        "--cpu " + flags.cpu +
        ": not supported by the target 'cuda', whose programs run on the "
        "architecture of the machine that compiles");
  const std::string without = llvm::join(flags.without, ",");
  if (llvm::Error error = checkWithout(without))
    return error;
  if (!flags.tune.empty() && flags.tune != "off")
    return llvm::createStringError("--tune " + flags.tune +
                                   ": not supported by the target 'cuda', whose libraries choose "
                                   "their kernels on the GPU");
  if (llvm::Error error = checkGpu(flags.rates))
    return error;
  if (const GpuFigures *gpu = findFigures(flags.rates);
      gpu && llvm::all_of(*architectures, [&](const Architecture &each) {
        return each.major * 10 + each.minor > gpu->number;
      }))
    return llvm::createStringError(llvm::formatv(
        "--cost-model {0}: {1} has the architecture sm_{2}, which does not run {3}; use "
        "--target cuda:sm_{2}",
        gpu->key, gpu->name, gpu->number, names));
  return TargetAttr::get(&context, names, flags.precision, flags.emulate, without, flags.threads,
                         flags.cpu, flags.features, flags.rates);
}

llvm::Expected<std::unique_ptr<Target>> cuda::createTarget(Attribute attribute, unsigned optLevel) {
  auto target = dyn_cast<TargetAttr>(attribute);
  if (!target)
    return nullptr;
  auto host = cpu::describeProcessor(target.getProcessor(), target.getFeatures());
  if (!host)
    return host.takeError();
  return target.getEmulated() ? createEmulatedTarget(target, std::move(*host), optLevel)
                              : createDeviceTarget(target, std::move(*host), optLevel);
}
