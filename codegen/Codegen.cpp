//===- Codegen.cpp - Code for a placed program ------------------------------------------------===//

#include "codegen/Codegen.h"

#include "codegen/KernelAnalysis.h"
#include "codegen/KernelCache.h"
#include "codegen/cpu/LoopPlan.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/TargetCpu.h"
#include "codegen/program/ProgramTables.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Object/ArchiveWriter.h"

using namespace mlir;
using namespace mtc;

void mtc::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect,
                  MtcDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {

KernelLaunch planLaunch(Operation *kernel) {
  cpu::LoopPlan plan = cpu::planLoops(normalizeKernel(cast<KernelFunctionOp>(kernel)));
  return {plan.extent, plan.grain};
}

/// Emits kernels, lowers them, and hands each to `use` as an optimised LLVM module, on the
/// context's threads.
LogicalResult
forEachKernel(ModuleOp placed, ArrayRef<KernelFunctionOp> kernels, const CodegenOptions &options,
              const cpu::Processor &processor,
              llvm::function_ref<llvm::Error(size_t, OwnedModule, llvm::TargetMachine &)> use) {
  MLIRContext *context = placed.getContext();
  OwningOpRef<ModuleOp> emitted = cpu::emitKernels(context, kernels);
  if (failed(cpu::lowerKernels(*emitted, !processor.hasBFloat16Conversion())))
    return failure();
  SmallVector<ModuleOp> modules(emitted->getOps<ModuleOp>());
  auto compile = [&](size_t i) -> llvm::Error {
    KernelFunctionOp kernel = kernels[i];
    OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
    owned.module = translateModuleToLLVMIR(modules[i], *owned.context, kernel.getSymName());
    if (!owned.module)
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "kernels cannot be translated to LLVM IR");
    auto machine = cpu::createTargetMachine(processor, options.optLevel);
    if (!machine)
      return machine.takeError();
    cpu::optimize(*owned.module, **machine, options.optLevel);
    return use(i, std::move(owned), **machine);
  };
  return failableParallelForEachN(context, 0, kernels.size(), [&](size_t i) -> LogicalResult {
    if (llvm::Error error = compile(i))
      return mlir::emitError(kernels[i]->getLoc(), llvm::toString(std::move(error)));
    return success();
  });
}

FailureOr<cpu::Processor> processorOf(ModuleOp placed, const CodegenOptions &options) {
  llvm::Expected<cpu::Processor> processor = cpu::describeProcessor(options.cpu, options.features);
  if (!processor)
    return placed.emitError(llvm::toString(processor.takeError()));
  return *processor;
}

using Object = std::unique_ptr<llvm::MemoryBuffer>;

/// An object for each kernel, out of the cache or compiled.
FailureOr<std::vector<Object>> compileKernels(ModuleOp placed, ArrayRef<KernelFunctionOp> kernels,
                                              const CodegenOptions &options,
                                              const cpu::Processor &processor) {
  std::vector<Object> objects(kernels.size());
  std::vector<std::string> keys(kernels.size());
  if (options.cache)
    parallelFor(placed.getContext(), 0, kernels.size(), [&](size_t i) {
      keys[i] = kernelKey(kernels[i], processor, options.optLevel);
      if (!keys[i].empty())
        objects[i] = options.cache->find(keys[i]);
    });
  SmallVector<size_t> missing;
  SmallVector<KernelFunctionOp> missingKernels;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    if (!objects[i]) {
      missing.push_back(i);
      missingKernels.push_back(kernel);
    }
  auto compile = [&](size_t k, OwnedModule owned, llvm::TargetMachine &machine) -> llvm::Error {
    llvm::Expected<Object> object = cpu::emitObject(*owned.module, machine);
    if (!object)
      return object.takeError();
    size_t i = missing[k];
    objects[i] = std::move(*object);
    if (!keys[i].empty())
      options.cache->add(keys[i], objects[i]->getBuffer());
    return llvm::Error::success();
  };
  if (failed(forEachKernel(placed, missingKernels, options, processor, compile)))
    return failure();
  return objects;
}

llvm::Expected<Object> compileTables(llvm::Module &tables, const CodegenOptions &options,
                                     const cpu::Processor &processor) {
  auto machine = cpu::createTargetMachine(processor, options.optLevel);
  if (!machine)
    return machine.takeError();
  cpu::optimize(tables, **machine, options.optLevel);
  return cpu::emitObject(tables, **machine);
}

} // namespace

FailureOr<std::vector<OwnedModule>> mtc::generateModules(ModuleOp placed, const ProgramInfo &info,
                                                         const CodegenOptions &options) {
  FailureOr<cpu::Processor> processor = processorOf(placed, options);
  if (failed(processor))
    return failure();
  SmallVector<KernelFunctionOp> kernels(placed.getOps<KernelFunctionOp>());
  std::vector<OwnedModule> result(kernels.size());
  auto keep = [&](size_t i, OwnedModule owned, llvm::TargetMachine &) {
    result[i] = std::move(owned);
    return llvm::Error::success();
  };
  if (failed(forEachKernel(placed, kernels, options, *processor, keep)))
    return failure();

  OwnedModule tables{std::make_unique<llvm::LLVMContext>(), nullptr};
  FailureOr<std::unique_ptr<llvm::Module>> module =
      emitProgramTables(placed, info, *tables.context, planLaunch, /*namedSteps=*/true);
  if (failed(module))
    return failure();
  tables.module = std::move(*module);
  result.push_back(std::move(tables));
  return result;
}

FailureOr<Object> mtc::generateCode(ModuleOp placed, const ProgramInfo &info,
                                    const CodegenOptions &options) {
  FailureOr<cpu::Processor> processor = processorOf(placed, options);
  if (failed(processor))
    return failure();
  SmallVector<KernelFunctionOp> kernels(placed.getOps<KernelFunctionOp>());
  FailureOr<std::vector<Object>> objects = compileKernels(placed, kernels, options, *processor);
  if (failed(objects))
    return failure();

  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> tables =
      emitProgramTables(placed, info, context, planLaunch);
  if (failed(tables))
    return failure();
  llvm::Expected<Object> program = compileTables(**tables, options, *processor);
  if (!program)
    return placed.emitError(llvm::toString(program.takeError()));

  std::vector<std::string> names;
  for (KernelFunctionOp kernel : kernels)
    names.push_back((kernel.getSymName() + ".o").str());
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef((*program)->getBuffer(), "program.o"));
  for (auto [name, object] : llvm::zip_equal(names, *objects))
    members.emplace_back(llvm::MemoryBufferRef(object->getBuffer(), name));
  llvm::Expected<Object> archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return placed.emitError(llvm::toString(archive.takeError()));
  return std::move(*archive);
}

LogicalResult mtc::emitKernelsText(ModuleOp placed, KernelsStage stage,
                                   const CodegenOptions &options, raw_ostream &os) {
  SmallVector<KernelFunctionOp> kernels(placed.getOps<KernelFunctionOp>());
  if (stage == KernelsStage::Loops) {
    OwningOpRef<ModuleOp> emitted = cpu::emitKernels(placed.getContext(), kernels);
    for (ModuleOp kernel : emitted->getOps<ModuleOp>())
      os << kernel << '\n';
    return success();
  }
  FailureOr<cpu::Processor> processor = processorOf(placed, options);
  if (failed(processor))
    return failure();
  std::vector<std::string> texts(kernels.size());
  auto print = [&](size_t i, OwnedModule owned, llvm::TargetMachine &) {
    llvm::raw_string_ostream(texts[i]) << *owned.module;
    return llvm::Error::success();
  };
  if (failed(forEachKernel(placed, kernels, options, *processor, print)))
    return failure();
  for (const std::string &text : texts)
    os << text;
  return success();
}
