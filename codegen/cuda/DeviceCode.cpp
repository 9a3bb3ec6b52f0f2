//===- DeviceCode.cpp - Lowering of gpu modules to PTX ----------------------------------------===//

#include "codegen/cuda/DeviceCode.h"

#include "codegen/cuda/Toolkit.h"
#include "codegen/host/Processor.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

using namespace llvm;
using namespace mtc;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static constexpr StringRef tripleName = "nvptx64-nvidia-cuda";

static constexpr StringRef extentsName = "mtc.parameter_bytes";

void cuda::setParameterExtents(Function &kernel, ArrayRef<int64_t> extents) {
  LLVMContext &context = kernel.getContext();
  SmallVector<Metadata *> operands = map_to_vector(extents, [&](int64_t extent) -> Metadata * {
    return ConstantAsMetadata::get(ConstantInt::getSigned(Type::getInt64Ty(context), extent));
  });
  kernel.setMetadata(extentsName, MDNode::get(context, operands));
}

/// Moves dereferenceable(n) attributes of parameters to metadata of the kernel.
static void noteExtents(Function &kernel) {
  SmallVector<int64_t> extents;
  for (Argument &argument : kernel.args()) {
    uint64_t bytes = argument.getDereferenceableBytes();
    argument.removeAttr(Attribute::Dereferenceable);
    extents.push_back(bytes ? static_cast<int64_t>(bytes) : -1);
  }
  cuda::setParameterExtents(kernel, extents);
}

SmallVector<int64_t> cuda::parameterExtents(const Function &kernel) {
  SmallVector<int64_t> extents(kernel.arg_size(), -1);
  if (const MDNode *node = kernel.getMetadata(extentsName))
    for (auto [extent, operand] : zip_equal(extents, node->operands()))
      extent = mdconst::extract<ConstantInt>(operand)->getSExtValue();
  return extents;
}

std::unique_ptr<Module> cuda::translateDeviceModule(mlir::Operation *gpuModule,
                                                    LLVMContext &context) {
  std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(
      gpuModule, context, gpuModule->getAttrOfType<mlir::StringAttr>("sym_name").getValue());
  if (module)
    for (Function &function : *module)
      if (function.getCallingConv() == CallingConv::PTX_Kernel)
        noteExtents(function);
  return module;
}

Expected<std::unique_ptr<TargetMachine>> cuda::createDeviceMachine(const Architecture &architecture,
                                                                   unsigned optLevel) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple triple(tripleName);
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  // LLVM selects the first PTX version that supports the architecture.
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, architecture.processor(), "", TargetOptions(), std::nullopt, std::nullopt,
      CodeGenOpt::getLevel(optLevel).value_or(CodeGenOptLevel::Default)));
  if (!machine)
    return createStringError("LLVM cannot generate code for '" + architecture.processor() + "'");
  return machine;
}

/// Returns the functions that the module uses but does not define.
static SmallVector<StringRef> undefinedFunctions(const Module &module) {
  SmallVector<StringRef> names;
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      names.push_back(function.getName());
  return names;
}

Error cuda::linkLibdevice(Module &module) {
  if (undefinedFunctions(module).empty())
    return Error::success();
  Expected<MemoryBufferRef> bitcode = getLibdevice();
  if (!bitcode)
    return bitcode.takeError();
  // Loads lazily, since a kernel uses few of libdevice's 400 functions.
  Expected<std::unique_ptr<Module>> library =
      getLazyBitcodeModule(*bitcode, module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  // Selects libdevice's variants that preserve denormal numbers.
  module.addModuleFlag(Module::Override, "nvvm-reflect-ftz", uint32_t(0));
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded,
                          [](Module &linked, const StringSet<> &added) {
                            internalizeModule(linked, [&](const GlobalValue &value) {
                              return !value.hasName() || !added.contains(value.getName());
                            });
                          }))
    return createStringError("libdevice cannot be linked to a kernel");
  SmallVector<StringRef> missing = undefinedFunctions(module);
  erase(missing, "__nvvm_reflect");
  if (!missing.empty())
    return createStringError("a kernel calls '" + missing.front() +
                             "', which libdevice does not have");
  return Error::success();
}

Expected<std::string> cuda::emitPtx(Module &module, const Architecture &architecture,
                                    unsigned optLevel) {
  auto machine = createDeviceMachine(architecture, optLevel);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  if (Error error = linkLibdevice(module))
    return error;
  cpu::optimize(module, **machine, optLevel);
  return cpu::emitAssembly(module, **machine);
}
