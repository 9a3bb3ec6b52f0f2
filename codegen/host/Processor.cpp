//===- Processor.cpp - Host processor description and code generation -------------------------===//

#include "codegen/host/Processor.h"

#include "codegen/host/LLVMPasses.h"
#include "codegen/host/SplitMaskedAccesses.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace llvm;
using namespace mtc;

/// Features that mtc's code generation queries, in addition to LLVM.
static constexpr const char *askedFeatures[] = {"avx512bf16", "avx512f", "avxneconvert", "f16c"};

bool cpu::Processor::has(StringRef feature) const {
  bool found = false; // The last entry of a feature takes precedence.
  for (StringRef entry : llvm::split(features, ','))
    if (entry.drop_front(!entry.empty()) == feature)
      found = entry.front() == '+';
  return found;
}

bool cpu::Processor::hasBFloat16Conversion() const {
  return has("avx512bf16") || has("avxneconvert");
}

bool cpu::Processor::hasBFloat16Products() const { return has("avx512bf16"); }

bool cpu::Processor::hasAvx512() const { return has("avx512f"); }

bool cpu::Processor::hasFloat16Conversion() const { return has("f16c"); }

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static Expected<const Target *> findTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
  });
  std::string error;
  Triple triple(sys::getDefaultTargetTriple());
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return makeError(error);
  return target;
}

Expected<cpu::Processor> cpu::describeProcessor(StringRef cpu, StringRef extraFeatures) {
  Processor result;
  SubtargetFeatures features;
  if (cpu.empty() || cpu == "host") {
    result.cpu = Triple(sys::getDefaultTargetTriple()).getArch() == Triple::x86_64 ? "x86-64" : "";
    // Cached, since passes describe the processor for each kernel and CPUID is slow in virtual
    // machines.
    static const StringMap<bool> ofHost = sys::getHostCPUFeatures();
    std::vector<std::string> names;
    for (const auto &feature : ofHost)
      names.push_back((feature.second ? "+" : "-") + feature.first().str());
    llvm::sort(names);
    for (const std::string &name : names)
      features.AddFeature(name);
  } else {
    Expected<const Target *> target = findTarget();
    if (!target)
      return target.takeError();
    Triple triple(sys::getDefaultTargetTriple());
    std::unique_ptr<MCSubtargetInfo> info((*target)->createMCSubtargetInfo(triple, "", ""));
    if (!info || !info->isCPUStringValid(cpu))
      return makeError(
          "--cpu: unknown processor '" + cpu +
          "'; expected 'host' or an LLVM name such as 'x86-64-v4' or 'sapphirerapids'");
    result.cpu = cpu.str();
    info.reset((*target)->createMCSubtargetInfo(triple, cpu, ""));
    for (const char *name : askedFeatures)
      if (info->checkFeatures("+" + std::string(name)))
        features.AddFeature(name);
  }
  // Use 512-bit vectors on all processors that support them.
  features.AddFeature("prefer-256-bit", false);
  result.features = features.getString();
  if (!extraFeatures.empty())
    result.features += "," + extraFeatures.str();
  return result;
}

Expected<std::unique_ptr<TargetMachine>> cpu::createTargetMachine(const Processor &processor,
                                                                  unsigned optLevel) {
  Expected<const Target *> target = findTarget();
  if (!target)
    return target.takeError();
  std::optional<CodeGenOptLevel> level = CodeGenOpt::getLevel(optLevel);
  Triple triple(sys::getDefaultTargetTriple());
  std::unique_ptr<TargetMachine> machine((*target)->createTargetMachine(
      triple, processor.cpu, processor.features, TargetOptions(), Reloc::PIC_, std::nullopt,
      level.value_or(CodeGenOptLevel::Default)));
  if (!machine)
    return makeError("LLVM cannot generate code for '" + triple.str() + "'");
  return machine;
}

void cpu::optimize(Module &module, TargetMachine &machine, unsigned optLevel) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  PassBuilder builder(&machine, tuning);
  static const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                             OptimizationLevel::O2, OptimizationLevel::O3};
  OptimizationLevel level = levels[std::min(optLevel, 3u)];
  runPasses(module, builder,
            level == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                           : builder.buildPerModuleDefaultPipeline(level));
  splitMaskedAccesses(module, machine);
}

static Expected<SmallVector<char, 0>> emit(Module &module, TargetMachine &machine,
                                           CodeGenFileType type) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return makeError("LLVM cannot write code for '" + machine.getTargetTriple().str() + "'");
  passes.run(module);
  return bytes;
}

Expected<std::string> cpu::emitAssembly(Module &module, TargetMachine &machine) {
  Expected<SmallVector<char, 0>> bytes = emit(module, machine, CodeGenFileType::AssemblyFile);
  if (!bytes)
    return bytes.takeError();
  return std::string(bytes->begin(), bytes->end());
}

Expected<std::unique_ptr<MemoryBuffer>> cpu::emitObject(Module &module, TargetMachine &machine) {
  Expected<SmallVector<char, 0>> bytes = emit(module, machine, CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(*bytes), module.getModuleIdentifier(),
                                                   /*RequiresNullTerminator=*/false);
}
