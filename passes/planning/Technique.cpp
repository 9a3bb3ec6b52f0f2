//===- Technique.cpp - Registered techniques that save memory ---------------------------------===//

#include "passes/planning/Technique.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;

namespace mtc {
#define MTC_FILE(NAME) void add##NAME##Techniques(std::vector<Technique> &techniques);
#include "passes/planning/Techniques.inc"
#undef MTC_FILE

template <> Registry<std::vector<Technique>> &Registry<std::vector<Technique>>::get() {
  static Registry registry = {
#define MTC_FILE(NAME) add##NAME##Techniques,
#include "passes/planning/Techniques.inc"
#undef MTC_FILE
  };
  return registry;
}
} // namespace mtc

llvm::ArrayRef<Technique> mtc::getTechniques() {
  return Registry<std::vector<Technique>>::get().getTable();
}

const Technique *mtc::findTechnique(llvm::StringRef name) {
  const auto *found =
      llvm::find_if(getTechniques(), [&](const Technique &each) { return each.name == name; });
  return found == getTechniques().end() ? nullptr : found;
}

std::vector<OptionChoice> mtc::allowChoices() {
  std::vector<OptionChoice> choices;
  for (const Technique &technique : getTechniques())
    if (technique.permission == Permission::Allow)
      choices.push_back({technique.name, technique.summary});
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

std::vector<const Technique *> mtc::getUsedTechniques(mlir::ModuleOp module) {
  std::vector<const Technique *> used;
  if (auto names = module->getAttrOfType<mlir::ArrayAttr>(techniquesAttribute))
    for (auto name : names.getAsRange<mlir::StringAttr>())
      if (const Technique *technique = findTechnique(name))
        used.push_back(technique);
  return used;
}

/// Returns the requirement for the search to use a technique.
static std::string describePermission(const Technique &technique) {
  switch (technique.permission) {
  case Permission::Budget:
    return "--memory";
  case Permission::Allow:
    return "--memory --allow " + technique.name;
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
  for (const Technique &technique : getTechniques())
    row(technique.name, describeEffect(technique.effect), describePermission(technique),
        technique.summary);
  return table;
}
