//===- Target.cpp - Target-independent parts of targets ---------------------------------------===//

#include "codegen/target/Target.h"

using namespace mlir;
using namespace mtc;

FailureOr<CodeSources> Target::collectSources(ModuleOp placed) const {
  CodeSources sources = CodeSources::of(placed);
  if (failed(planKernels(sources.kernels, attribute)) || failed(checkScratch(placed)))
    return failure();
  return sources;
}

LogicalResult Target::print(const CodeSources &sources, KernelText form, raw_ostream &os) {
  if (form == KernelText::Loops) {
    OwningOpRef<ModuleOp> emitted = emitLoops(sources);
    for (Operation &kernel : *emitted->getBody())
      os << kernel << '\n';
    return success();
  }
  FailureOr<std::vector<std::string>> texts = writeTexts(sources, form);
  if (failed(texts))
    return failure();
  for (const std::string &text : *texts)
    os << text;
  return success();
}

std::string Target::describeProcessors() {
  constexpr size_t width = 100;
  std::string text = "host\n    the machine that compiles, by the features of its processor\n";
  for (const cpu::ProcessorNames &list : cpu::listProcessors()) {
    text += list.architecture.str() + '\n';
    std::string line = "   ";
    for (const std::string &name : list.names) {
      if (line.size() + name.size() + 1 > width) {
        text += line + '\n';
        line = "   ";
      }
      line += ' ' + name;
    }
    text += line + '\n';
  }
  return text;
}

StringRef Target::refuseCopy(MemorySpace source, MemorySpace destination) const {
  bool usesDisk = source == MemorySpace::Disk || destination == MemorySpace::Disk;
  return usesDisk ? "programs have no arena on disk" : "";
}

llvm::Expected<Target::Object> Target::compileHost(llvm::Module &module) const {
  auto machine = cpu::createTargetMachine(host, optLevel);
  if (!machine)
    return machine.takeError();
  cpu::optimize(module, **machine, optLevel);
  return cpu::emitObject(module, **machine);
}
