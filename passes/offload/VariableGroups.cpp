//===- VariableGroups.cpp - Variables that are offloaded together -----------------------------===//

#include "passes/offload/VariableGroups.h"

#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

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

namespace {

/// Unites variables into groups.
class Grouping {
public:
  /// Unites the variables of each flat tensor.
  explicit Grouping(ModuleOp module) : module(module) {
    size_t place = 0;
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation &op : function.front()) {
        ++place;
        SmallVector<FlatSymbolRefAttr> symbols = readVariables(&op);
        for (FlatSymbolRefAttr symbol : writtenVariables(&op)) {
          symbols.push_back(symbol);
          lastUpdates[symbol.getAttr()] = place;
        }
        unite(symbols);
      }
  }

  void unite(ArrayRef<FlatSymbolRefAttr> symbols) {
    for (FlatSymbolRefAttr symbol : symbols)
      together.unionSets(symbols.front().getAttr(), symbol.getAttr());
  }

  /// Returns a member that represents the group of a used variable, until groups are united.
  Attribute leaderOf(FlatSymbolRefAttr symbol) const {
    return *together.findLeader(symbol.getAttr());
  }

  /// Returns the groups of which all variables may be offloaded.
  std::vector<VariableGroup> collect(llvm::function_ref<bool(VariableOp)> mayMove);

private:
  ModuleOp module;
  llvm::EquivalenceClasses<Attribute> together;
  llvm::DenseMap<Attribute, size_t> lastUpdates;
};

} // namespace

std::vector<VariableGroup> Grouping::collect(llvm::function_ref<bool(VariableOp)> mayMove) {
  llvm::MapVector<Attribute, VariableGroup> byLeader;
  llvm::DenseSet<Attribute> mixed; // Groups with variables that cannot be offloaded.
  for (auto variable : module.getOps<VariableOp>()) {
    Attribute name = variable.getSymNameAttr();
    auto leader = together.findLeader(name);
    if (leader == together.member_end())
      continue; // The variable is not used.
    if (variable.getTransient() || variable.getSpace() != MemorySpace::Device ||
        !mayMove(variable)) {
      mixed.insert(*leader);
      continue;
    }
    VariableGroup &group = byLeader[*leader];
    group.variables.push_back(variable);
    group.bytes += paddedBytes(byteSize(variable.getTensorType()));
    group.lastUpdate = std::max(group.lastUpdate, lastUpdates.lookup(name));
    group.isUpdated |= kindOf(variable.getRole()) == OffloadKind::Optimizer;
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

std::vector<VariableGroup>
mtc::collectGroups(ModuleOp module, llvm::function_ref<bool(OffloadKind kind)> isOfInterest) {
  return Grouping(module).collect([&](VariableOp variable) {
    const std::optional<OffloadKind> kind = kindOf(variable.getRole());
    return kind && isOfInterest(*kind);
  });
}

/// Returns the variables that each kernel writes, of kernels that write a variable for the update
/// alone.
static llvm::MapVector<Operation *, SmallVector<FlatSymbolRefAttr>>
findUpdates(ModuleOp module, const SymbolTable &symbols) {
  llvm::MapVector<Operation *, SmallVector<FlatSymbolRefAttr>> written;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front())
      if (const SmallVector<FlatSymbolRefAttr> variables = writtenVariables(&op);
          !variables.empty())
        if (auto kernel = rootOf(op.getOperand(0)).getDefiningOp<KernelOp>())
          llvm::append_range(written[kernel], variables);
  written.remove_if([&](const auto &update) {
    return llvm::none_of(update.second, [&](FlatSymbolRefAttr symbol) {
      const Role role = symbols.lookup<VariableOp>(symbol.getValue()).getRole();
      return role == Role::LowHalf || kindOf(role) == OffloadKind::Optimizer;
    });
  });
  return written;
}

std::vector<VariableGroup> mtc::collectUpdateGroups(ModuleOp module) {
  const SymbolTable symbols(module);
  Grouping grouping(module);
  const auto updates = findUpdates(module, symbols);
  llvm::DenseSet<Attribute> shared; // Leaders of variables that other operations access, too.
  auto share = [&](ArrayRef<FlatSymbolRefAttr> variables) {
    for (FlatSymbolRefAttr symbol : variables)
      shared.insert(grouping.leaderOf(symbol));
  };
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front()) {
      if (const auto read = readVariables(&op); !read.empty() && op.getNumResults() == 1)
        if (!llvm::all_of(findUses(op.getResult(0)),
                          [&](OpOperand *use) { return updates.contains(use->getOwner()); }))
          share(read);
      if (const auto written = writtenVariables(&op); !written.empty())
        if (!updates.contains(rootOf(op.getOperand(0)).getDefiningOp()))
          share(written);
    }
  llvm::DenseSet<Attribute> moved;
  for (const auto &[kernel, written] : updates)
    for (FlatSymbolRefAttr symbol : written) {
      const Role role = symbols.lookup<VariableOp>(symbol.getValue()).getRole();
      const bool isPart = role == Role::LowHalf || role == Role::Parameter;
      if (kindOf(role) == OffloadKind::Optimizer ||
          (isPart && !shared.contains(grouping.leaderOf(symbol))))
        moved.insert(symbol.getAttr());
    }
  for (const auto &[kernel, written] : updates)
    grouping.unite(llvm::filter_to_vector(
        written, [&](FlatSymbolRefAttr symbol) { return moved.contains(symbol.getAttr()); }));
  return grouping.collect(
      [&](VariableOp variable) { return moved.contains(variable.getSymNameAttr()); });
}
