//===- Division.cpp - Variables that are divided among the ranks ------------------------------===//

#include "passes/sharding/Division.h"

#include "ir/ReservedNames.h"
#include "passes/sharding/GatherWindows.h"
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

Division::Division(ModuleOp module) : module(module) {
  ProgramOp program = ProgramOp::find(module);
  const Shard shard = program ? program.getShard() : Shard::None;
  // The gradients of one micro-step, of one rank, are no sums.
  if (shard == Shard::None || program.getMicroSteps() == 1)
    return;
  group = program.getDataGroup();
  reducesInUpdate = program.reducesInUpdate();
  llvm::StringMap<ParameterStorage> storages = findParameterStorage(module);
  llvm::StringSet<> read; // by steps
  module.walk([&](ReadOp op) { read.insert(op.getVariable()); });
  for (auto parameter : llvm::to_vector(module.getOps<VariableOp>()))
    if (parameter.getRole() == Role::Parameter)
      divided.insert(parameter.getSymName());
  if (!reducesInUpdate)
    for (func::FuncOp microStep : findMicroSteps(module))
      addParts(GradientExchange(module, microStep, defaultBucketBytes)
                   .run([&](VariableOp gradient) { return hasDivided(gradient); },
                        GradientExchange::Gradients::Released));
  llvm::StringSet<> gathered;
  for (StringRef name : divided.keys()) {
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
    GatherWindows(function, gathered, group).insert();
}

/// Makes a variable the piece of this rank.
void Division::divide(VariableOp variable) {
  variable.becomePiece(pieceTypeOf(variable.getTensorType(), group.count));
}

bool Division::hasDivided(VariableOp gradient) const {
  return gradient.getOf() && divided.contains(*gradient.getOf());
}

void Division::addParts(ArrayRef<GradientBucket> buckets) {
  for (const GradientBucket &bucket : buckets)
    for (const GradientBucket::Gradient &gradient : bucket.gradients)
      parts.try_emplace(VariableOp(gradient.variable).getSymName(),
                        Part{gradient.variable, bucket.sums, bucket.sumsInUpdate, gradient.offset});
}

void Division::exchangeInUpdate(TensorBuilder &b) {
  if (!reducesInUpdate)
    return;
  // Any micro-step has the variables of the module.
  GradientExchange exchange(module, findMicroSteps(module).front(), defaultBucketBytes);
  addParts(exchange.runInUpdate(b, [&](VariableOp gradient) { return hasDivided(gradient); }));
  // Each rank's own sums are not needed any more.
  for (const Part &part : llvm::make_second_range(parts))
    b.create<WriteOp>(VariableOp(part.gradient).getSymName(),
                      b.splat(VariableOp(part.gradient).getTensorType(), 0.0));
}

VariableView Division::viewOf(VariableOp variable, bool isLine) const {
  VariableView own = viewAlone(variable, isLine);
  auto lookups =
      ModuleOp(module).lookupSymbol<VariableOp>((variable.getSymName() + lookupsSuffix).str());
  return lookups ? own.plus(viewAlone(lookups, isLine)) : own;
}

VariableView Division::viewAlone(VariableOp variable, bool isLine) const {
  const StringRef name = variable.getSymName();
  if (auto found = parts.find(name); found != parts.end()) {
    const Part &part = found->second;
    RankedTensorType piece = pieceTypeOf(variable.getTensorType(), group.count);
    return part.sums ? VariableView::partOf(part.sums, part.offset, piece)
                     : VariableView::partOf(part.sumsInUpdate, part.offset, piece);
  }
  if (heldWhole.contains(name))
    return VariableView::pieceOf(variable, pieceTypeOf(variable.getTensorType(), group.count),
                                 group);
  return isLine ? VariableView::lineOf(variable) : VariableView(variable);
}

void Division::divideLike(VariableOp variable, VariableOp parameter) const {
  const RankedTensorType type = variable.getTensorType(),
                         local = parameter.getLocalType().clone(type.getElementType());
  const bool isPiece = includes(parameter) && type == pieceTypeOf(local, group.count);
  if (isPiece)
    variable.setPieceOfAttr(TypeAttr::get(local));
  if (parameter.getPartOf() && (isPiece || type == local)) {
    variable.setPartOfAttr(TypeAttr::get(parameter.getWholeType().clone(type.getElementType())));
    variable.setSplitAttr(parameter.getSplitAttr());
  }
}

void Division::eraseGradients() {
  if (!reducesInUpdate)
    for (auto &part : parts)
      part.second.gradient.erase();
  parts.clear();
}
