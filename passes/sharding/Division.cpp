//===- Division.cpp - Variables that are divided among the ranks ------------------------------===//

#include "passes/sharding/Division.h"

#include "ir/ReservedNames.h"
#include "passes/sharding/GatherWindows.h"
#include "passes/sharding/GradientExchange.h"
#include "passes/sharding/Pieces.h"

using namespace mlir;
using namespace mtc;

/// Returns whether a variable is a parameter that is not trained, or a part or copy of one.
static bool isFrozen(VariableOp variable, ModuleOp module) {
  if (variable.getRole() == Role::Frozen)
    return true;
  if (variable.getRole() != Role::LowHalf && variable.getRole() != Role::Copy)
    return false;
  auto of = module.lookupSymbol<VariableOp>(*variable.getOf());
  return of && of.getRole() == Role::Frozen;
}

Division::Division(ModuleOp module, llvm::function_ref<bool(VariableOp)> includes) {
  ProgramOp program = ProgramOp::find(module);
  const Shard shard = program ? program.getShard() : Shard::None;
  if (shard == Shard::None)
    return;
  ranks = program.getRankCount();
  llvm::StringMap<ParameterStorage> storages = findParameterStorage(module);
  llvm::StringSet<> read; // by steps
  module.walk([&](ReadOp op) { read.insert(op.getVariable()); });
  for (auto parameter : llvm::to_vector(module.getOps<VariableOp>()))
    if (parameter.getRole() == Role::Parameter && includes(parameter))
      divided[parameter.getSymName()] = parameter.getTensorType();
  divideGradients(module);
  llvm::StringSet<> gathered;
  for (const auto &[name, type] : divided) {
    ParameterStorage &storage = storages[name];
    for (VariableOp variable : {storage.parameter, storage.lowHalf, storage.copy}) {
      if (!variable)
        continue;
      const bool isRead = read.contains(variable.getSymName());
      if (isRead && shard != Shard::Parameters)
        heldWhole.insert(variable.getSymName());
      else
        divide(variable);
      if (isRead && shard == Shard::Parameters)
        gathered.insert(variable.getSymName());
    }
  }
  if (shard == Shard::Parameters)
    for (auto variable : module.getOps<VariableOp>())
      if (isFrozen(variable, module) && variable.getTensorType().getNumElements() > pieceBlock) {
        divide(variable);
        if (read.contains(variable.getSymName()))
          gathered.insert(variable.getSymName());
      }
  if (gathered.empty())
    return;
  for (auto function : module.getOps<func::FuncOp>())
    GatherWindows(function, gathered, ranks).insert();
}

/// Makes a variable the piece of this rank.
void Division::divide(VariableOp variable) {
  RankedTensorType whole = variable.getTensorType();
  variable.setWholeAttr(TypeAttr::get(whole));
  variable.setType(pieceTypeOf(whole, ranks));
}

void Division::divideGradients(ModuleOp module) {
  auto microStep = module.lookupSymbol<func::FuncOp>(microStepName);
  GradientExchange exchange(module, microStep, defaultBucketBytes);
  auto isDivided = [&](VariableOp gradient) {
    return gradient.getOf() && divided.contains(*gradient.getOf());
  };
  for (const GradientBucket &bucket :
       exchange.run(isDivided, GradientExchange::Gradients::Released))
    for (const GradientBucket::Gradient &gradient : bucket.gradients)
      parts.try_emplace(VariableOp(gradient.variable).getSymName(),
                        Part{gradient.variable, bucket.sums, gradient.offset});
}

VariableView Division::viewOf(VariableOp variable, bool isLine) const {
  const StringRef name = variable.getSymName();
  if (auto part = parts.find(name); part != parts.end())
    return VariableView::partOf(part->second.sums, part->second.offset,
                                pieceTypeOf(variable.getTensorType(), ranks));
  if (heldWhole.contains(name))
    return VariableView::pieceOf(variable, pieceTypeOf(variable.getTensorType(), ranks), ranks);
  return isLine ? VariableView::lineOf(variable) : VariableView(variable);
}

void Division::setWhole(VariableOp variable, VariableOp parameter) const {
  auto known = divided.find(parameter.getSymName());
  if (known == divided.end())
    return;
  auto whole =
      RankedTensorType::get(known->second.getShape(), variable.getTensorType().getElementType());
  if (variable.getTensorType() == pieceTypeOf(whole, ranks))
    variable.setWholeAttr(TypeAttr::get(whole));
}

void Division::eraseGradients() {
  for (auto &part : parts)
    part.second.gradient.erase();
  parts.clear();
}
