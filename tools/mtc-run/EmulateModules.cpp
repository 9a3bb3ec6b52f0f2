//===- EmulateModules.cpp - Execution of gpu modules in the emulator --------------------------===//

#include "tools/mtc-run/EmulateModules.h"

#include "codegen/Jit.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/emulated/Emulation.h"
#include "ir/builders/Scalar.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "tools/mtc-run/Elements.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"

using namespace mlir;
using namespace mtc;
namespace emulation = mtc::runtime::emulation;

namespace {

/// A launch specified by the attributes of a kernel.
struct WrittenLaunch {
  std::string symbol;
  SmallVector<int32_t> grid, block;
  SmallVector<Attribute> parameters;
};

std::vector<WrittenLaunch> findLaunches(ModuleOp module) {
  std::vector<WrittenLaunch> launches;
  module.walk([&](mlir::gpu::GPUFuncOp function) {
    auto grid = function->getAttrOfType<DenseI32ArrayAttr>("run.grid");
    auto parameters = function->getAttrOfType<ArrayAttr>("run.parameters");
    auto block = function.getKnownBlockSizeAttr();
    if (grid && parameters && block)
      launches.push_back({function.getName().str(), llvm::to_vector(grid.asArrayRef()),
                          llvm::to_vector(block.asArrayRef()),
                          llvm::to_vector(parameters.getValue())});
  });
  return launches;
}

RankedTensorType typeOf(Attribute parameter) {
  if (auto type = dyn_cast<TypeAttr>(parameter))
    return cast<RankedTensorType>(type.getValue());
  return cast<RankedTensorType>(cast<ElementsAttr>(parameter).getShapedType());
}

void run(const WrittenLaunch &written, MtcEmulatedFunction function) {
  MtcGpuLaunch launch = {};
  launch.symbol = written.symbol.c_str();
  launch.emulated = function;
  std::copy_n(written.grid.begin(), 3, launch.grid);
  std::copy_n(written.block.begin(), 3, launch.block);
  SmallVector<char *> parameters;
  for (Attribute parameter : written.parameters) {
    parameters.push_back(emulation::allocate(byteSize(typeOf(parameter))));
    if (auto elements = dyn_cast<ElementsAttr>(parameter)) {
      std::vector<char> bytes = toBytes(elements);
      llvm::copy(bytes, parameters.back());
      emulation::markDefined(parameters.back(), bytes.size());
    }
  }
  std::string fault = emulation::launch(launch, parameters.data(), "", /*hostThreads=*/2);
  llvm::outs() << '@' << written.symbol << (fault.empty() ? "\n" : ": " + fault + "\n");
  for (auto [i, parameter, memory] : llvm::enumerate(written.parameters, parameters)) {
    if (fault.empty())
      printElements(llvm::outs(), "  " + std::to_string(i), typeOf(parameter), memory);
    emulation::release(memory);
  }
}

/// Lowers the modules, converts them for the emulator, and passes each of them to `use`.
LogicalResult forEachModule(ModuleOp module, unsigned optLevel,
                            llvm::function_ref<llvm::Error(OwnedModule)> use) {
  if (failed(cuda::lowerDeviceModules(module)))
    return failure();
  for (auto gpuModule : module.getOps<mlir::gpu::GPUModuleOp>()) {
    OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
    owned.module = cuda::translateDeviceModule(gpuModule, *owned.context);
    if (!owned.module)
      return failure();
    if (llvm::Error error = cuda::emulateDeviceModule(*owned.module, optLevel))
      return gpuModule.emitError(llvm::toString(std::move(error)));
    if (llvm::Error error = use(std::move(owned)))
      return gpuModule.emitError(llvm::toString(std::move(error)));
  }
  return success();
}

} // namespace

LogicalResult mtc::printEmulatedModules(ModuleOp module, unsigned optLevel) {
  return forEachModule(module, optLevel, [](OwnedModule owned) {
    llvm::outs() << *owned.module;
    return llvm::Error::success();
  });
}

LogicalResult mtc::emulateDeviceModules(ModuleOp module, unsigned optLevel) {
  std::vector<WrittenLaunch> launches = findLaunches(module);
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  auto processor = cpu::describeProcessor("host", "");
  if (!processor)
    return fail(processor.takeError());
  auto machine = cpu::createTargetMachine(*processor, optLevel);
  if (!machine)
    return fail(machine.takeError());
  auto jit = createJit(*processor);
  if (!jit)
    return fail(jit.takeError());
  auto add = [&](OwnedModule owned) {
    cpu::optimize(*owned.module, **machine, optLevel);
    return (*jit)->addIRModule(
        llvm::orc::ThreadSafeModule(std::move(owned.module), std::move(owned.context)));
  };
  if (failed(forEachModule(module, optLevel, add)))
    return failure();
  for (const WrittenLaunch &launch : launches) {
    auto function = (*jit)->lookup(cuda::emulatedSymbol(launch.symbol));
    if (!function)
      return fail(function.takeError());
    run(launch, function->toPtr<MtcEmulatedFunction>());
  }
  if (launches.empty())
    return module.emitError("no kernel has the attributes run.grid and run.parameters");
  return success();
}
