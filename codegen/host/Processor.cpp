//===- Processor.cpp - Processor description and code generation ------------------------------===//

#include "codegen/host/Processor.h"

#include "codegen/host/LLVMPasses.h"
#include "codegen/host/LimitUnrolling.h"
#include "codegen/host/SplitMaskedAccesses.h"
#include "runtime/abi/processor.h"

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

//===------------------------------------------------------------------------------------------===//
// Features
//===------------------------------------------------------------------------------------------===//

/// Names of features that programs check at startup. Code uses no other features.
#define FEATURE(name, ...) name,
static constexpr const char *x86Features[] = {MTC_X86_FEATURES(FEATURE)};
static constexpr const char *aarch64Features[] = {MTC_AARCH64_FEATURES(FEATURE)};
#undef FEATURE

/// Features of recent processors that LLVM's code generation uses and programs do not check.
static constexpr const char *x86Unused[] = {"avx10.2", "egpr", "ndd", "ppx", "push2pop2",
                                            "ccmp",    "nf",   "cf",  "zu"};

static ArrayRef<const char *> checkedFeatures(const Triple &triple) {
  return triple.isX86() ? ArrayRef<const char *>(x86Features) : aarch64Features;
}

bool cpu::Processor::isOfHost() const {
  return triple.getArch() == Triple(sys::getDefaultTargetTriple()).getArch();
}

bool cpu::Processor::has(StringRef feature) const {
  bool found = false; // The last entry of a feature takes precedence.
  for (StringRef entry : llvm::split(features, ','))
    if (entry.drop_front(!entry.empty()) == feature)
      found = entry.front() == '+';
  return found;
}

bool cpu::Processor::hasBFloat16Conversion() const {
  return isX86() ? has("avx512bf16") || has("avxneconvert") : has("bf16");
}

bool cpu::Processor::hasBFloat16Products() const { return has("avx512bf16"); }

bool cpu::Processor::hasAvx512() const { return has("avx512f"); }

bool cpu::Processor::hasAvx512Vbmi() const { return has("avx512bw") && has("avx512vbmi"); }

bool cpu::Processor::hasFloat16Conversion() const { return !isX86() || has("f16c"); }

std::string cpu::Processor::getFeatureNames() const {
  return llvm::join(llvm::make_filter_range(checkedFeatures(triple),
                                            [&](StringRef feature) { return has(feature); }),
                    ",");
}

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===------------------------------------------------------------------------------------------===//
// Names
//===------------------------------------------------------------------------------------------===//

/// The architectures that programs are compiled for, and the name of any processor of each.
static constexpr std::pair<StringLiteral, StringLiteral> architectures[] = {
    {"x86-64", "x86_64-unknown-linux-gnu"}, {"aarch64", "aarch64-unknown-linux-gnu"}};

static Expected<const llvm::Target *> findTarget(const Triple &triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return makeError(error);
  return target;
}

static std::unique_ptr<MCSubtargetInfo> describeSubtarget(const Triple &triple, StringRef cpu) {
  Expected<const llvm::Target *> target = findTarget(triple);
  if (!target) {
    consumeError(target.takeError());
    return nullptr;
  }
  return std::unique_ptr<MCSubtargetInfo>((*target)->createMCSubtargetInfo(triple, cpu, ""));
}

/// Returns the architecture of an LLVM CPU name. If several architectures have the name, it is that
/// of this machine.
static std::optional<Triple> architectureOf(StringRef cpu) {
  std::optional<Triple> found;
  for (const auto &[generic, name] : architectures) {
    Triple triple(name);
    auto info = describeSubtarget(triple, "");
    bool isNamed = cpu == generic || (info && info->isCPUStringValid(cpu));
    if (isNamed && (!found || triple.getArch() == Triple(sys::getDefaultTargetTriple()).getArch()))
      found = triple;
  }
  return found;
}

/// Returns whether programs can be compiled for a processor of the architecture. Names with `_` are
/// groups of processors, for the dispatch of functions.
static bool isListed(StringRef cpu, const Triple &triple) {
  if (cpu == "generic" || cpu.contains('_') || architectureOf(cpu) != triple)
    return false;
  return !triple.isX86() || describeSubtarget(triple, cpu)->checkFeatures("+64bit");
}

std::vector<cpu::ProcessorNames> cpu::listProcessors() {
  std::vector<ProcessorNames> result;
  for (const auto &[generic, name] : architectures) {
    ProcessorNames list{generic, {generic.str()}};
    if (auto info = describeSubtarget(Triple(name), ""))
      for (const SubtargetSubTypeKV &known : info->getAllProcessorDescriptions())
        if (isListed(known.Key, Triple(name)))
          list.names.emplace_back(known.Key);
    llvm::sort(list.names);
    list.names.erase(llvm::unique(list.names), list.names.end());
    result.push_back(std::move(list));
  }
  return result;
}

static void describeHost(cpu::Processor &processor, SubtargetFeatures &features) {
  processor.triple = Triple(sys::getDefaultTargetTriple());
  processor.cpu = processor.isX86() ? "x86-64" : "generic";
  // The features are cached, since passes describe the processor for each kernel and CPUID is slow
  // in virtual machines.
  static const StringMap<bool> ofHost = sys::getHostCPUFeatures();
  for (const char *name : checkedFeatures(processor.triple))
    if (ofHost.lookup(name))
      features.AddFeature(name);
}

static Error describeNamed(StringRef cpu, cpu::Processor &processor, SubtargetFeatures &features) {
  std::optional<Triple> triple = architectureOf(cpu);
  if (!triple)
    return makeError("--cpu: unknown processor '" + cpu +
                     "'; expected 'host', 'x86-64-v2', 'x86-64-v3', 'x86-64-v4', 'aarch64', or an "
                     "LLVM name such as 'sapphirerapids'. 'mtc processors' lists all names");
  processor.triple = *triple;
  processor.cpu = cpu == "aarch64" ? "generic" : cpu.str();
  auto info = describeSubtarget(*triple, processor.cpu);
  if (processor.isX86() && !info->checkFeatures("+64bit"))
    return makeError("--cpu: the processor '" + cpu +
                     "' has no 64-bit mode; the oldest processor "
                     "that programs run on is 'x86-64'");
  for (const char *name : checkedFeatures(*triple))
    if (info->checkFeatures("+" + std::string(name)))
      features.AddFeature(name);
  if (processor.isX86())
    for (const char *name : x86Unused)
      features.AddFeature(name, false);
  return Error::success();
}

std::string cpu::nameOfHost() {
  if (auto file = MemoryBuffer::getFileAsStream("/proc/cpuinfo"))
    for (StringRef line : split((*file)->getBuffer(), '\n'))
      if (line.starts_with("model name"))
        return line.split(':').second.trim().str();
  return sys::getHostCPUName().str();
}

Expected<cpu::Processor> cpu::describeProcessor(StringRef cpu, StringRef extraFeatures) {
  Processor result;
  result.name = cpu.empty() ? "host" : cpu.str();
  SubtargetFeatures features;
  if (result.name == "host")
    describeHost(result, features);
  else if (Error error = describeNamed(cpu, result, features))
    return error;
  // Use 512-bit vectors on all processors that support them.
  if (result.isX86())
    features.AddFeature("prefer-256-bit", false);
  result.features = features.getString();
  if (!extraFeatures.empty())
    result.features += "," + extraFeatures.str();
  return result;
}

Expected<std::unique_ptr<TargetMachine>> cpu::createTargetMachine(const Processor &processor,
                                                                  unsigned optLevel) {
  const Triple &triple = processor.triple;
  Expected<const llvm::Target *> target = findTarget(triple);
  if (!target)
    return target.takeError();
  std::optional<CodeGenOptLevel> level = CodeGenOpt::getLevel(optLevel);
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
  if (!machine.getTargetTriple().isGPU())
    limitUnrolling(builder);
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
