//===- Targets.cpp - Registry of targets ------------------------------------------------------===//

#include "codegen/target/Target.h"

#include "codegen/cpu/CpuDialect.h"
#include "codegen/cpu/CpuTarget.h"
#include "codegen/cuda/CudaTarget.h"

using namespace mlir;
using namespace mtc;

namespace {

struct KnownTarget {
  llvm::StringRef name, description;
  /// Parses the part of --target after the colon ("" if there is none).
  llvm::Expected<TargetAttrInterface> (*parse)(llvm::StringRef detail, MLIRContext &context,
                                               const TargetFlags &flags);
  /// Registers the dialect of the target's attribute.
  void (*registerDialect)(DialectRegistry &registry);
  /// Creates the target, or returns null if the attribute belongs to another target.
  llvm::Expected<std::unique_ptr<Target>> (*create)(Attribute attribute, unsigned optLevel);
};

template <typename Dialect> void registerDialect(DialectRegistry &registry) {
  registry.insert<Dialect>();
}

const KnownTarget knownTargets[] = {
    {"cpu", "cpu", cpu::parseTarget, registerDialect<cpu::MtcCpuDialect>, cpu::createTarget},
    {"cuda",
     "cuda[:ARCHITECTURE,...] (sm_90 if none is named; native: this machine's; compute_90: PTX)",
     cuda::parseTarget, registerDialect<cuda::MtcCudaDialect>, cuda::createTarget}};

} // namespace

void mtc::registerTargetDialects(DialectRegistry &registry) {
  for (const KnownTarget &known : knownTargets)
    known.registerDialect(registry);
}

const std::string &Target::describeNames() {
  static const std::string names = llvm::join(
      llvm::map_range(knownTargets, [](const KnownTarget &known) { return known.description; }),
      ", ");
  return names;
}

llvm::Expected<TargetAttrInterface> Target::parse(MLIRContext &context, const TargetFlags &flags) {
  auto [name, detail] = llvm::StringRef(flags.target).split(':');
  const auto *known =
      llvm::find_if(knownTargets, [&](const KnownTarget &each) { return each.name == name; });
  if (known == std::end(knownTargets))
    return llvm::createStringError("--target " + flags.target +
                                   ": unknown target; expected one of: " + describeNames());
  if (auto host = cpu::describeProcessor(flags.cpu, flags.features); !host)
    return host.takeError();
  return known->parse(detail, context, flags);
}

llvm::Expected<std::unique_ptr<Target>> Target::create(TargetAttrInterface attribute,
                                                       unsigned optLevel) {
  for (const KnownTarget &known : knownTargets) {
    llvm::Expected<std::unique_ptr<Target>> target = known.create(attribute, optLevel);
    if (!target || *target)
      return target;
  }
  return llvm::createStringError("no code generation for this target");
}
