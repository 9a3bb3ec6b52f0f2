//===- StageTables.cpp - Common entries of the tables of pipeline stages ----------------------===//

#include "codegen/program/StageTables.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace mtc;

namespace {

/// Gives all stages the same variables in the same order: that of a program without stages, in
/// which passes add variables of one purpose after each other. Fingerprints depend on the order.
class VariableAligner {
public:
  explicit VariableAligner(ArrayRef<ModuleOp> stages) : stages(stages), own(stages.size()) {}

  void run() {
    for (auto [stage, variables] : llvm::zip_equal(stages, own))
      for (auto variable : ModuleOp(stage).getOps<VariableOp>())
        if (variable.getRole() != Role::Slot)
          variables.push_back(variable);
    findPositions();
    findShared();
    renameOthers();
    merge();
    for (size_t stage = 0; stage < stages.size(); ++stage)
      addAll(stage);
  }

private:
  /// A variable of one stage or, without `stage`, of all.
  struct Entry {
    VariableOp variable;
    std::optional<size_t> stage;
  };

  /// Returns the properties of a variable that do not depend on the stage.
  static DictionaryAttr describe(VariableOp variable) {
    NamedAttrList attributes(variable->getAttrDictionary());
    attributes.erase(variable.getOffsetAttrName());
    attributes.erase(variable.getStageAttrName());
    return attributes.getDictionary(variable.getContext());
  }

  /// Finds the position, before the cut, of each variable or of the one to which it belongs.
  void findPositions() {
    auto names = stages.front()->getParentOp()->getAttrOfType<ArrayAttr>(variablesAttribute);
    if (!names)
      return;
    DenseMap<Attribute, size_t> numbers;
    for (auto [number, name] : llvm::enumerate(names))
      numbers[name] = number;
    for (ArrayRef<VariableOp> variables : own) {
      DenseMap<StringAttr, VariableOp> known;
      for (VariableOp variable : variables)
        known[variable.getSymNameAttr()] = variable;
      for (VariableOp variable : variables) {
        VariableOp root = variable;
        while (root.getOfAttr() && !numbers.contains(root.getSymNameAttr()))
          root = known.lookup(root.getOfAttr().getAttr());
        positions[variable] = numbers.lookup(root.getSymNameAttr());
      }
    }
  }

  /// Finds the variables that all stages have, such as scalars.
  void findShared() {
    DenseMap<Attribute, size_t> counts;
    for (ArrayRef<VariableOp> variables : own)
      for (VariableOp variable : variables)
        if (++counts[describe(variable)] == stages.size())
          shared.insert(variable.getSymNameAttr());
  }

  bool isShared(VariableOp variable) const { return shared.contains(variable.getSymNameAttr()); }

  /// Renames different variables of several stages with equal names.
  void renameOthers() {
    DenseMap<StringAttr, int> uses;
    for (ArrayRef<VariableOp> variables : own)
      for (VariableOp variable : variables)
        ++uses[variable.getSymNameAttr()];
    for (auto [number, variables] : llvm::enumerate(own)) {
      DenseMap<StringAttr, StringAttr> names;
      for (VariableOp variable : variables) {
        if (isShared(variable))
          continue;
        variable.setStage(number);
        const StringAttr name = variable.getSymNameAttr();
        if (uses.lookup(name) == 1)
          continue;
        names[name] =
            StringAttr::get(name.getContext(), name.getValue() + ".stage" + Twine(number));
        variable.setSymNameAttr(names[name]);
      }
      for (VariableOp variable : variables)
        if (FlatSymbolRefAttr of = variable.getOfAttr())
          if (StringAttr name = names.lookup(of.getAttr()))
            variable.setOfAttr(FlatSymbolRefAttr::get(name));
    }
  }

  /// Returns the first role of the variables among which a variable is: those of the model follow
  /// its order, with halves and copies, and averages follow the optimizer state of their parameter.
  static Role groupOf(VariableOp variable) {
    switch (variable.getRole()) {
    case Role::Gradient:
    case Role::Scalar:
    case Role::Constant:
    case Role::Optimizer:
      return variable.getRole();
    case Role::Average:
      return Role::Optimizer;
    default:
      return Role::Parameter;
    }
  }

  /// Orders the variables. Between two shared variables, those of a group follow each other, in
  /// their order before the cut.
  void merge() {
    using Group = std::map<size_t, SmallVector<Entry>>; // by position
    using Segment = llvm::MapVector<Role, Group>;
    SmallVector<Segment> segments(shared.size() + 1);
    SmallVector<VariableOp> common;
    for (auto [number, variables] : llvm::enumerate(own)) {
      size_t segment = 0;
      for (VariableOp variable : variables) {
        if (!isShared(variable)) {
          segments[segment][groupOf(variable)][positions.lookup(variable)].push_back(
              {variable, number});
          continue;
        }
        ++segment;
        if (number == 0)
          common.push_back(variable);
      }
    }
    for (auto [number, segment] : llvm::enumerate(segments)) {
      for (auto &[role, group] : segment)
        for (auto &[position, entries] : group)
          llvm::append_range(order, entries);
      if (number < common.size())
        order.push_back({common[number], std::nullopt});
    }
  }

  /// Adds the variables of other stages to a stage, and orders all.
  void addAll(size_t number) {
    DenseMap<StringAttr, VariableOp> known;
    for (VariableOp variable : own[number])
      known[variable.getSymNameAttr()] = variable;
    ModuleOp stage = stages[number];
    OpBuilder builder = OpBuilder::atBlockEnd(stage.getBody());
    for (const Entry &entry : order) {
      VariableOp variable = entry.variable;
      if (VariableOp present = known.lookup(variable.getSymNameAttr())) {
        present->moveBefore(stage.getBody(), stage.getBody()->end());
        continue;
      }
      auto copy = cast<VariableOp>(builder.clone(*variable));
      copy.removeOffsetAttr();
    }
  }

  ArrayRef<ModuleOp> stages;
  SmallVector<SmallVector<VariableOp>> own; ///< by stage
  DenseMap<Operation *, size_t> positions;  ///< before the cut
  llvm::DenseSet<StringAttr> shared;
  SmallVector<Entry> order;
};

/// Gives different kernels of the stages different names, and equal ones the same.
class KernelAligner {
public:
  void add(ModuleOp stage) {
    DenseMap<StringAttr, StringAttr> names;
    for (auto kernel : stage.getOps<KernelFunctionOp>()) {
      const StringAttr name = kernel.getSymNameAttr(), unique = nameOf(kernel);
      names[name] = unique;
      kernel.setSymNameAttr(unique);
    }
    stage.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<LaunchOp, AsyncLaunchOp>([&](auto launch) {
        launch.setKernelAttr(
            FlatSymbolRefAttr::get(names.lookup(launch.getKernelAttr().getAttr())));
      });
    });
  }

private:
  StringAttr nameOf(KernelFunctionOp kernel) {
    NamedAttrList attributes(kernel->getAttrDictionary());
    attributes.erase(kernel.getSymNameAttrName());
    auto &alike = kernels[attributes.getDictionary(kernel.getContext())];
    for (KernelFunctionOp known : alike)
      if (OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &kernel.getBody(),
                                                     OperationEquivalence::IgnoreLocations))
        return known.getSymNameAttr();
    alike.push_back(kernel);
    return StringAttr::get(kernel.getContext(), "kernel_" + Twine(count++));
  }

  DenseMap<Attribute, SmallVector<KernelFunctionOp>> kernels;
  int64_t count = 0;
};

} // namespace

/// Gives all stages all adapters, whose variables they have.
static void alignAdapters(ArrayRef<ModuleOp> stages) {
  SmallVector<SmallVector<AdapterOp>> own;
  for (ModuleOp stage : stages)
    own.push_back(llvm::to_vector(stage.getOps<AdapterOp>()));
  for (size_t number = 0; number < stages.size(); ++number) {
    Block *body = ModuleOp(stages[number]).getBody();
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    for (auto [other, adapters] : llvm::enumerate(own))
      for (AdapterOp adapter : adapters) {
        if (other == number)
          adapter->moveBefore(body, body->end());
        else
          builder.clone(*adapter);
      }
  }
}

void mtc::alignStages(ArrayRef<ModuleOp> stages) {
  auto isAligned = [](ModuleOp stage) {
    return llvm::any_of(stage.getOps<VariableOp>(),
                        [](VariableOp variable) { return variable.isElsewhere(); });
  };
  if (llvm::any_of(stages, isAligned))
    return; // They are aligned already.
  VariableAligner(stages).run();
  alignAdapters(stages);
  KernelAligner kernels;
  for (ModuleOp stage : stages)
    kernels.add(stage);
}
