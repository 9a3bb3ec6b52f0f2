//===- Codegen.cpp - Code for a placed program ------------------------------------------------===//

#include "codegen/Codegen.h"

#include "codegen/KernelAnalysis.h"
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
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

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

/// Runs `task(i)` for i < count on the pool's threads; the first error is the result.
class ParallelTasks {
public:
  explicit ParallelTasks(unsigned threads) : pool(llvm::hardware_concurrency(threads)) {}

  llvm::Error run(size_t count, llvm::function_ref<llvm::Error(size_t)> task) {
    std::vector<std::string> errors(count);
    for (size_t i = 0; i < count; ++i)
      pool.async([&, i] {
        if (llvm::Error error = task(i))
          errors[i] = llvm::toString(std::move(error));
      });
    pool.wait();
    for (const std::string &error : errors)
      if (!error.empty())
        return llvm::createStringError(llvm::inconvertibleErrorCode(), error);
    return llvm::Error::success();
  }

private:
  llvm::DefaultThreadPool pool;
};

KernelLaunch planLaunch(Operation *kernel) {
  cpu::LoopPlan plan = cpu::planLoops(normalizeKernel(cast<KernelFunctionOp>(kernel)));
  return {plan.extent, plan.grain};
}

unsigned shardCount(const CodegenOptions &options) {
  unsigned threads = llvm::hardware_concurrency(options.threads).compute_thread_count();
  return threads == 1 ? 1 : threads * 4;
}

/// Emits the kernels, lowers them and hands each shard to `use` as an unoptimised LLVM module.
llvm::Error forEachShard(ModuleOp kernels, const CodegenOptions &options,
                         llvm::function_ref<llvm::Error(size_t, OwnedModule)> use) {
  SmallVector<ModuleOp> shards(kernels.getOps<ModuleOp>());
  return ParallelTasks(options.threads).run(shards.size(), [&](size_t i) -> llvm::Error {
    OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
    owned.module =
        translateModuleToLLVMIR(shards[i], *owned.context, "kernels" + std::to_string(i));
    if (!owned.module)
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "kernels cannot be translated to LLVM IR");
    return use(i, std::move(owned));
  });
}

struct Session {
  cpu::Processor processor;
  OwningOpRef<ModuleOp> kernels;
};

/// Kernels of a placed program in the llvm dialect.
FailureOr<Session> prepare(ModuleOp placed, const CodegenOptions &options) {
  llvm::Expected<cpu::Processor> processor = cpu::describeProcessor(options.cpu, options.features);
  if (!processor)
    return placed.emitError(llvm::toString(processor.takeError()));
  Session session{*processor, cpu::emitKernels(placed, shardCount(options))};
  if (failed(cpu::lowerKernels(*session.kernels, !processor->hasBFloat16Conversion())))
    return failure();
  return session;
}

llvm::Error optimizeModule(llvm::Module &module, const cpu::Processor &processor,
                           unsigned optLevel) {
  auto machine = cpu::createTargetMachine(processor, optLevel);
  if (!machine)
    return machine.takeError();
  cpu::optimize(module, **machine, optLevel);
  return llvm::Error::success();
}

} // namespace

FailureOr<std::vector<OwnedModule>> mtc::generateModules(ModuleOp placed, const ProgramInfo &info,
                                                         const CodegenOptions &options) {
  FailureOr<Session> session = prepare(placed, options);
  if (failed(session))
    return failure();
  std::vector<OwnedModule> result(llvm::range_size(session->kernels->getOps<ModuleOp>()));
  llvm::Error error =
      forEachShard(*session->kernels, options, [&](size_t i, OwnedModule owned) -> llvm::Error {
        if (llvm::Error failed =
                optimizeModule(*owned.module, session->processor, options.optLevel))
          return failed;
        result[i] = std::move(owned);
        return llvm::Error::success();
      });
  if (error)
    return placed.emitError(llvm::toString(std::move(error)));

  OwnedModule tables{std::make_unique<llvm::LLVMContext>(), nullptr};
  FailureOr<std::unique_ptr<llvm::Module>> module =
      emitProgramTables(placed, info, *tables.context, planLaunch, /*namedSteps=*/true);
  if (failed(module))
    return failure();
  tables.module = std::move(*module);
  result.push_back(std::move(tables));
  return result;
}

FailureOr<CompiledObjects> mtc::generateCode(ModuleOp placed, const ProgramInfo &info,
                                             const CodegenOptions &options) {
  FailureOr<Session> session = prepare(placed, options);
  if (failed(session))
    return failure();
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> tables =
      emitProgramTables(placed, info, context, planLaunch);
  if (failed(tables))
    return failure();

  CompiledObjects result;
  size_t shards = llvm::range_size(session->kernels->getOps<ModuleOp>());
  result.objects.resize(shards + 1);
  auto compile = [&](size_t i, llvm::Module &module) -> llvm::Error {
    auto machine = cpu::createTargetMachine(session->processor, options.optLevel);
    if (!machine)
      return machine.takeError();
    cpu::optimize(module, **machine, options.optLevel);
    auto object = cpu::emitObject(module, **machine);
    if (!object)
      return object.takeError();
    result.objects[i] = std::move(*object);
    return llvm::Error::success();
  };
  llvm::Error error = forEachShard(*session->kernels, options, [&](size_t i, OwnedModule owned) {
    return compile(i, *owned.module);
  });
  if (!error)
    error = compile(shards, **tables);
  if (error)
    return placed.emitError(llvm::toString(std::move(error)));
  return result;
}

LogicalResult mtc::emitKernelsText(ModuleOp placed, KernelsStage stage,
                                   const CodegenOptions &options, raw_ostream &os) {
  if (stage == KernelsStage::Loops) {
    OwningOpRef<ModuleOp> kernels = cpu::emitKernels(placed, 1);
    for (ModuleOp shard : kernels->getOps<ModuleOp>())
      os << shard << '\n';
    return success();
  }
  FailureOr<Session> session = prepare(placed, options);
  if (failed(session))
    return failure();
  std::vector<std::string> texts(llvm::range_size(session->kernels->getOps<ModuleOp>()));
  llvm::Error error =
      forEachShard(*session->kernels, options, [&](size_t i, OwnedModule owned) -> llvm::Error {
        if (llvm::Error failed =
                optimizeModule(*owned.module, session->processor, options.optLevel))
          return failed;
        llvm::raw_string_ostream(texts[i]) << *owned.module;
        return llvm::Error::success();
      });
  if (error)
    return placed.emitError(llvm::toString(std::move(error)));
  for (const std::string &text : texts)
    os << text;
  return success();
}
