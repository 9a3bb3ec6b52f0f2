//===- TechniqueKind.cpp - Registered techniques that save memory -----------------------------===//

#include "passes/planning/TechniqueKind.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;

namespace mtc::techniques {
#define MTC_TECHNIQUE(NAME) TechniqueKind make##NAME();
#include "passes/planning/Techniques.inc"
#undef MTC_TECHNIQUE
} // namespace mtc::techniques

static std::vector<TechniqueKind> &allTechniques() {
  static std::vector<TechniqueKind> techniques = {
#define MTC_TECHNIQUE(NAME) mtc::techniques::make##NAME(),
#include "passes/planning/Techniques.inc"
#undef MTC_TECHNIQUE
  };
  return techniques;
}

llvm::ArrayRef<TechniqueKind> mtc::getTechniques() { return allTechniques(); }

const TechniqueKind *mtc::findTechnique(llvm::StringRef name) {
  const auto *found =
      llvm::find_if(getTechniques(), [&](const TechniqueKind &each) { return each.name == name; });
  return found == getTechniques().end() ? nullptr : found;
}

TechniqueRegistration::TechniqueRegistration(TechniqueKind kind) : name(kind.name) {
  allTechniques().push_back(std::move(kind));
}

TechniqueRegistration::~TechniqueRegistration() {
  llvm::erase_if(allTechniques(), [&](const TechniqueKind &each) { return each.name == name; });
}

std::vector<OptionChoice> mtc::allowChoices() {
  std::vector<OptionChoice> choices;
  for (const TechniqueKind &kind : getTechniques())
    if (kind.permission == Permission::Allow)
      choices.push_back({kind.name, kind.summary});
  return choices;
}

llvm::StringRef mtc::describeEffect(Effect effect) {
  switch (effect) {
  case Effect::None:
    return "bit-identical";
  case Effect::Order:
    return "sums in another order";
  case Effect::Numerics:
    return "other numerics";
  }
  llvm_unreachable("all effects are handled");
}

std::vector<const TechniqueKind *> mtc::getUsedTechniques(mlir::ModuleOp module) {
  std::vector<const TechniqueKind *> used;
  if (auto names = module->getAttrOfType<mlir::ArrayAttr>(techniquesAttribute))
    for (auto name : names.getAsRange<mlir::StringAttr>())
      if (const TechniqueKind *kind = findTechnique(name))
        used.push_back(kind);
  return used;
}

/// Returns the requirement for the search to use a technique.
static std::string describePermission(const TechniqueKind &kind) {
  switch (kind.permission) {
  case Permission::Budget:
    return "--memory";
  case Permission::Allow:
    return "--memory --allow " + kind.name;
  case Permission::Flag:
    return "explicit flag only";
  }
  llvm_unreachable("all permissions are handled");
}

std::string mtc::describeTechniques() {
  std::string table;
  llvm::raw_string_ostream os(table);
  auto row = [&](llvm::StringRef name, llvm::StringRef effect, llvm::StringRef permission,
                 llvm::StringRef summary) {
    os << llvm::formatv("{0,-20} {1,-23} {2,-34} {3}\n", name, effect, permission, summary);
  };
  row("technique", "results", "used with", "what it does");
  for (const TechniqueKind &kind : getTechniques())
    row(kind.name, describeEffect(kind.effect), describePermission(kind), kind.summary);
  return table;
}
