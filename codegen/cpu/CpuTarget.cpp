//===- CpuTarget.cpp - Kernels as native functions of the program -----------------------------===//

#include "codegen/cpu/CpuTarget.h"

#include "codegen/cpu/CallAlgorithms.h"
#include "codegen/cpu/ColumnSums.h"
#include "codegen/cpu/CpuDialect.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/Rates.h"
#include "codegen/program/ProgramTables.h"
#include "codegen/target/KernelCache.h"
#include "runtime/abi/cpu.h"

#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"

#include <mutex>

using namespace mlir;
using namespace mtc;

namespace {

/// Target machines for kernels that are compiled at the same time. Creating a machine parses the
/// list of features and takes as long as optimizing a small kernel, so each machine compiles many
/// kernels.
class TargetMachines {
public:
  TargetMachines(const cpu::Processor &host, unsigned optLevel) : host(host), optLevel(optLevel) {}

  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> take() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!idle.empty())
        return idle.pop_back_val();
    }
    return cpu::createTargetMachine(host, optLevel);
  }

  void giveBack(std::unique_ptr<llvm::TargetMachine> machine) {
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(machine));
  }

private:
  const cpu::Processor &host;
  unsigned optLevel;
  std::mutex mutex;
  SmallVector<std::unique_ptr<llvm::TargetMachine>> idle;
};

class CpuTarget final : public Target {
public:
  CpuTarget(cpu::TargetAttr target, cpu::Processor host, unsigned optLevel)
      : Target(target, std::move(host), optLevel) {}

  std::string getName() const override { return "cpu"; }

  LinkInputs getLinkInputs() const override;

  FailureOr<std::vector<CompiledObject>> compile(const CodeSources &sources,
                                                 KernelCache *cache) override;
  FailureOr<std::vector<OwnedModule>> generateModules(const CodeSources &sources) override;

  llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) override;
  llvm::Constant *describeProgram(ConstantBuilder &c) override {
    return c.array({c.record(field<&MtcCpuProgram::processor>(host.name),
                             field<&MtcCpuProgram::features>(host.getFeatureNames()))});
  }
  StringRef refuseCopy(MemorySpace, MemorySpace) const override { return ""; }
  bool hasRepeats() const override { return true; }

  OwningOpRef<ModuleOp> emitLoops(const CodeSources &sources) override;

protected:
  FailureOr<std::vector<std::string>> writeTexts(const CodeSources &sources,
                                                 KernelText form) override;

private:
  LogicalResult
  forEachKernel(ArrayRef<KernelFunctionOp> kernels,
                llvm::function_ref<llvm::Error(size_t, OwnedModule, llvm::TargetMachine &)> use);
};

} // namespace

LinkInputs CpuTarget::getLinkInputs() const {
  auto target = cast<cpu::TargetAttr>(attribute);
  LinkInputs inputs{{"libmtc_runtime.a", "libmtc_runtime_cpu.a", "libmtc_library_calls.a",
                     "libmtc_contraction_problem.a"},
                    {"stdc++", "m", "pthread"}};
  if (target.getLibrary() == MTC_ONEDNN) {
    inputs.archives.emplace_back("libmtc_onednn.a");
    inputs.libraries.insert(inputs.libraries.begin(), {"dnnl", "gomp"});
  } else {
    inputs.archives.emplace_back("libmtc_no_onednn.a");
  }
  if (!host.isOfHost())
    inputs.architecture = host.triple.getArchName().str();
  inputs.isStatic = target.getIsStatic();
  return inputs;
}

static cpu::TablePermutations permutationsOf(const cpu::Processor &processor) {
  if (processor.hasAvx512Vbmi())
    return cpu::TablePermutations::Bytes;
  return processor.hasAvx512() ? cpu::TablePermutations::Words : cpu::TablePermutations::None;
}

/// Emits and lowers kernels, and passes each of them to `use` as an optimized LLVM module, on the
/// context's threads.
LogicalResult CpuTarget::forEachKernel(
    ArrayRef<KernelFunctionOp> kernels,
    llvm::function_ref<llvm::Error(size_t, OwnedModule, llvm::TargetMachine &)> use) {
  if (kernels.empty())
    return success();
  MLIRContext *context = kernels.front()->getContext();
  OwningOpRef<ModuleOp> emitted = cpu::emitKernels(context, kernels, permutationsOf(host));
  if (failed(cpu::lowerKernels(*emitted, {.bfloat16 = !host.hasBFloat16Conversion(),
                                          .float16 = !host.hasFloat16Conversion()})))
    return failure();
  SmallVector<ModuleOp> modules(emitted->getOps<ModuleOp>());
  TargetMachines machines(host, optLevel);
  auto compile = [&](size_t i) -> llvm::Error {
    KernelFunctionOp kernel = kernels[i];
    OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
    owned.module = translateModuleToLLVMIR(modules[i], *owned.context, kernel.getSymName());
    if (!owned.module)
      return llvm::createStringError("kernels cannot be translated to LLVM IR");
    auto machine = machines.take();
    if (!machine)
      return machine.takeError();
    cpu::optimize(*owned.module, **machine, optLevel);
    llvm::Error error = use(i, std::move(owned), **machine);
    machines.giveBack(std::move(*machine));
    return error;
  };
  return failableParallelForEachN(context, 0, kernels.size(), [&](size_t i) -> LogicalResult {
    if (llvm::Error error = compile(i))
      return mlir::emitError(kernels[i]->getLoc(), llvm::toString(std::move(error)));
    return success();
  });
}

static std::string kernelFile(KernelFunctionOp kernel) {
  return (kernel.getSymName() + ".o").str();
}

FailureOr<std::vector<CompiledObject>> CpuTarget::compile(const CodeSources &sources,
                                                          KernelCache *cache) {
  std::string machine =
      host.triple.str() + ' ' + host.cpu + ' ' + host.features + " O" + std::to_string(optLevel);
  FailureOr<std::vector<Object>> objects = compileCached(
      {sources.context, sources.kernels, {}, sources.notify}, cache, machine,
      [&](const CodeSources &missing, function_ref<void(size_t, Object)> keep) {
        return forEachKernel(
            missing.kernels,
            [&](size_t i, OwnedModule owned, llvm::TargetMachine &machine) -> llvm::Error {
              llvm::Expected<Object> object = cpu::emitObject(*owned.module, machine);
              if (!object)
                return object.takeError();
              keep(i, std::move(*object));
              return llvm::Error::success();
            });
      });
  if (failed(objects))
    return failure();
  std::vector<CompiledObject> result;
  for (auto [i, object] : llvm::enumerate(*objects))
    result.push_back({kernelFile(sources.kernels[i]), std::move(object)});
  return result;
}

FailureOr<std::vector<OwnedModule>> CpuTarget::generateModules(const CodeSources &sources) {
  std::vector<OwnedModule> result(sources.kernels.size());
  auto keep = [&](size_t i, OwnedModule owned, llvm::TargetMachine &) {
    result[i] = std::move(owned);
    return llvm::Error::success();
  };
  if (failed(forEachKernel(sources.kernels, keep)))
    return failure();
  return result;
}

OwningOpRef<ModuleOp> CpuTarget::emitLoops(const CodeSources &sources) {
  return cpu::emitKernels(sources.context, sources.kernels, permutationsOf(host));
}

FailureOr<std::vector<std::string>> CpuTarget::writeTexts(const CodeSources &sources,
                                                          KernelText form) {
  std::vector<std::string> texts(sources.kernels.size());
  auto write = [&](size_t i, OwnedModule owned, llvm::TargetMachine &machine) -> llvm::Error {
    if (form == KernelText::LLVM) {
      llvm::raw_string_ostream(texts[i]) << *owned.module;
      return llvm::Error::success();
    }
    return cpu::emitAssembly(*owned.module, machine).moveInto(texts[i]);
  };
  if (failed(forEachKernel(sources.kernels, write)))
    return failure();
  return texts;
}

llvm::Constant *CpuTarget::describeKernel(KernelFunctionOp kernel, ConstantBuilder &c) {
  const cpu::LoopPlan &plan = cpu::planOf(kernel);
  std::string symbol = kernelSymbol(kernel.getSymName());
  SmallVector<llvm::Constant *> stages;
  auto addStage = [&](StringRef name, int64_t extent, int64_t grain) {
    stages.push_back(c.record(field<&MtcCpuStage::function>(c.function(name)),
                              field<&MtcCpuStage::extent>(extent),
                              field<&MtcCpuStage::grain>(grain)));
  };
  addStage(symbol, plan.extent, plan.grain);
  if (plan.sumExtent)
    addStage(cpu::columnSumsSymbol(symbol), plan.sumExtent, plan.sumGrain);
  return c.array({c.record(field<&MtcCpuKernel::stage_count>(stages.size()),
                           field<&MtcCpuKernel::stages>(c.array(stages)))});
}

llvm::Expected<TargetAttrInterface> cpu::parseTarget(StringRef detail, MLIRContext &context,
                                                     const TargetFlags &flags) {
  if (!detail.empty())
    return llvm::createStringError(
        "--target " + flags.target +
        ": the target 'cpu' has no suffix; use --cpu to set the processor");
  if (flags.precision == Precision::TF32)
    return llvm::createStringError(
        "--precision " + stringifyEnum(flags.precision) +
        ": not supported by the target 'cpu'; expected f32, bf16 or f16");
  if (flags.emulate)
    return llvm::createStringError("--emulate: the target 'cpu' has no device to emulate");
  for (const std::string &library : flags.without)
    if (library != "onednn")
      return llvm::createStringError("--no-" + library +
                                     ": not used by the target 'cpu'; use it with --target cuda");
  if (llvm::Error error = checkRates(flags.rates))
    return error;
  if (llvm::Error error = checkTuning(flags.tune))
    return error;
  auto processor = describeProcessor(flags.cpu, flags.features);
  if (!processor)
    return processor.takeError();
  // The libraries of another architecture are found only at link time. They do not include oneDNN.
  const bool isStatic = flags.isStatic || !processor->isOfHost();
  const bool isWithout = isStatic || !flags.without.empty();
  if (!flags.tune.empty() && flags.tune != "off" &&
      (flags.cpu != "host" || !flags.rates.empty() || isWithout))
    return llvm::createStringError(
        "--tune " + flags.tune + ": measures oneDNN on this machine, but " +
        (flags.cpu != "host"    ? "--cpu selects another processor"
         : !flags.rates.empty() ? "--cost-model selects another processor's times"
                                : "the program does not use oneDNN") +
        "; use --tune off");
  return TargetAttr::get(&context, flags.precision, flags.threads, flags.cpu, flags.features,
                         flags.rates, isWithout ? "onednn" : "", isStatic,
                         flags.tune.empty() ? "cached" : flags.tune);
}

llvm::Expected<std::unique_ptr<Target>> cpu::createTarget(Attribute attribute, unsigned optLevel) {
  auto target = dyn_cast<TargetAttr>(attribute);
  if (!target)
    return nullptr;
  auto host = describeProcessor(target.getProcessor(), target.getFeatures());
  if (!host)
    return host.takeError();
  return std::make_unique<CpuTarget>(target, std::move(*host), optLevel);
}
