//===- VariableFamilies.cpp - Variables that are divided together -----------------------------===//

#include "passes/splitting/VariableFamilies.h"

using namespace mlir;
using namespace mtc;

bool VariableFamily::canSplit(AxisSplitAttr split) const {
  AxisSplitAttr padded = VariableOp(variables.front()).getSplitAttr();
  const bool isOther =
      padded && (padded.getAxis() != split.getAxis() || padded.getOuter() != split.getOuter());
  return isDivisible && !isOther && split.getPartOf(type);
}

VariableFamilies::VariableFamilies(ModuleOp module) {
  for (auto variable : module.getOps<VariableOp>())
    if (llvm::is_contained({Role::Parameter, Role::Frozen, Role::State}, variable.getRole())) {
      VariableFamily &family = families[variable.getSymName()];
      family.type = variable.getTensorType();
      family.variables.push_back(variable);
      names[variable.getSymName()] = variable.getSymName();
    }
  for (auto variable : module.getOps<VariableOp>()) {
    if (!variable.getOf() || names.contains(variable.getSymName()))
      continue;
    auto found = families.find(*variable.getOf());
    if (found == families.end())
      continue;
    found->second.isDivisible &=
        variable.getTensorType().getShape() == found->second.type.getShape();
    found->second.variables.push_back(variable);
    names[variable.getSymName()] = found->first;
  }
  auto add = [&](Operation *access, StringRef variable) {
    if (auto found = names.find(variable); found != names.end())
      families[found->second].accesses.push_back(access);
  };
  module.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      add(op, read.getVariable());
    else if (auto write = dyn_cast<WriteOp>(op))
      add(op, write.getVariable());
  });
}

StringRef VariableFamilies::nameOf(StringRef variable) const {
  auto found = names.find(variable);
  return found != names.end() && get(found->second).isDivisible ? found->second : StringRef();
}
