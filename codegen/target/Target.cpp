//===- Target.cpp - Target-independent parts of targets ---------------------------------------===//

#include "codegen/target/Target.h"

using namespace mlir;
using namespace mtc;

FailureOr<CodeSources> Target::collectSources(ModuleOp placed) const {
  CodeSources sources = CodeSources::of(placed);
  if (failed(planKernels(sources.kernels, attribute)))
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
