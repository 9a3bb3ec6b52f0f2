//===- VariableGroups.cpp - Variables that are offloaded together -----------------------------===//

#include "passes/offload/VariableGroups.h"

#include "ir/steps/VariableAccess.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mtc;

/// Smaller copies are dominated by their start-up latency.
static constexpr int64_t minBytes = 16 << 10;

static std::optional<OffloadKind> kindOf(Role role) {
  switch (role) {
  case Role::Optimizer:
  case Role::Average:
    return OffloadKind::Optimizer;
  case Role::Parameter:
  case Role::Frozen:
  case Role::Copy:
  case Role::LowHalf:
    return OffloadKind::Parameters;
  case Role::Gradient:
    return OffloadKind::Gradients;
  default:
    return std::nullopt;
  }
}

std::vector<VariableGroup>
mtc::collectGroups(ModuleOp module, llvm::function_ref<bool(OffloadKind kind)> isOfInterest) {
  llvm::EquivalenceClasses<Attribute> together;
  llvm::DenseMap<Attribute, size_t> lastUpdates;
  size_t place = 0;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front()) {
      ++place;
      SmallVector<FlatSymbolRefAttr> symbols = readVariables(&op);
      for (FlatSymbolRefAttr symbol : writtenVariables(&op)) {
        symbols.push_back(symbol);
        lastUpdates[symbol.getAttr()] = place;
      }
      for (FlatSymbolRefAttr symbol : symbols)
        together.unionSets(symbols.front().getAttr(), symbol.getAttr());
    }
  llvm::MapVector<Attribute, VariableGroup> byLeader;
  llvm::DenseSet<Attribute> mixed; // Groups with variables that cannot be offloaded.
  for (auto variable : module.getOps<VariableOp>()) {
    Attribute name = variable.getSymNameAttr();
    auto leader = together.findLeader(name);
    if (leader == together.member_end())
      continue; // The variable is not used.
    const std::optional<OffloadKind> kind = kindOf(variable.getRole());
    if (variable.getTransient() || variable.getSpace() != MemorySpace::Device || !kind ||
        !isOfInterest(*kind)) {
      mixed.insert(*leader);
      continue;
    }
    VariableGroup &group = byLeader[*leader];
    group.variables.push_back(variable);
    group.bytes += paddedBytes(byteSize(variable.getTensorType()));
    group.lastUpdate = std::max(group.lastUpdate, lastUpdates.lookup(name));
    group.isUpdated = *kind == OffloadKind::Optimizer;
  }
  std::vector<VariableGroup> groups;
  for (auto &[leader, group] : byLeader)
    if (!mixed.contains(leader)) {
      group.number = groups.size();
      if (group.bytes < minBytes)
        group.refusal = "it is small";
      groups.push_back(std::move(group));
    }
  llvm::sort(groups, [](const VariableGroup &a, const VariableGroup &b) {
    return std::tuple(!a.isUpdated, a.lastUpdate, a.number) <
           std::tuple(!b.isUpdated, b.lastUpdate, b.number);
  });
  return groups;
}
