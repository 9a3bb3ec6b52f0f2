//===- Target.cpp - The targets that there are ------------------------------------------------===//

#include "codegen/Target.h"

#include "codegen/cpu/CpuTarget.h"
#include "codegen/cuda/CudaTarget.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Makes a target out of what follows its name and a colon ("" without one).
using Create = llvm::Expected<std::unique_ptr<Target>> (*)(llvm::StringRef detail,
                                                           const CodegenOptions &options,
                                                           cpu::Processor host);

struct KnownTarget {
  llvm::StringRef name, description;
  Create create;
};

const KnownTarget knownTargets[] = {
    {"cpu", "cpu", cpu::createTarget},
    {"cuda",
     "cuda[:ARCHITECTURE,...] (sm_90 if none is named; native: this machine's; compute_90: PTX)",
     cuda::createTarget}};

} // namespace

const std::string &Target::describeNames() {
  static const std::string names = llvm::join(
      llvm::map_range(knownTargets, [](const KnownTarget &known) { return known.description; }),
      ", ");
  return names;
}

llvm::Expected<std::unique_ptr<Target>> Target::create(const CodegenOptions &options) {
  auto [name, detail] = llvm::StringRef(options.target).split(':');
  const auto *known =
      llvm::find_if(knownTargets, [&](const KnownTarget &each) { return each.name == name; });
  if (known == std::end(knownTargets))
    return llvm::createStringError("--target " + options.target +
                                   ": there is no such target; expected " + describeNames());
  llvm::Expected<cpu::Processor> host = cpu::describeProcessor(options.cpu, options.features);
  if (!host)
    return host.takeError();
  return known->create(detail, options, std::move(*host));
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

llvm::Expected<Target::Object> Target::compileHost(llvm::Module &module) const {
  auto machine = cpu::createTargetMachine(host, options.optLevel);
  if (!machine)
    return machine.takeError();
  cpu::optimize(module, **machine, options.optLevel);
  return cpu::emitObject(module, **machine);
}
