//===- VariableMover.cpp - Moves variables to another memory space ----------------------------===//

#include "passes/offload/VariableMover.h"

#include "passes/search/FunctionBudget.h"

using namespace mlir;
using namespace mtc;

VariableMover::VariableMover(ModuleOp module, const MemoryAnalysis &analysis, OperationTimes &times,
                             int64_t window)
    : module(module), times(times), target(TargetInfo::of(module)), window(window),
      presentSlotBytes(analysis.getSlotBytes()) {
  for (const FunctionMemory &function : analysis.getFunctions()) {
    if (!function.hasSeparateArena())
      limit = std::max(limit, function.getLive()[function.getPeakTime()]);
    placements[&function] = std::make_unique<CopyPlacement>(function, times, target);
    for (const PlannedOperation *op : function.getText()) {
      for (FlatSymbolRefAttr symbol : op->read)
        reads[symbol.getAttr()].push_back({&function, op});
      for (FlatSymbolRefAttr symbol : op->written)
        writes[symbol.getAttr()].push_back({&function, op});
    }
  }
}

SmallVector<VariableMover::Access> VariableMover::accessesTo(const VariableGroup &group,
                                                             const Accesses &all) {
  SmallVector<Access> found;
  llvm::DenseSet<const PlannedOperation *> seen;
  for (VariableOp variable : group.variables)
    if (auto known = all.find(variable.getSymNameAttr()); known != all.end())
      for (const Access &access : known->second)
        if (seen.insert(access.op).second)
          found.push_back(access);
  return found;
}

double VariableMover::getAddedSeconds() {
  double seconds = 0;
  for (const auto &[function, added] : copies)
    if (const int64_t runs = FunctionBudget::countRuns(function->getFunction());
        runs && !function->hasSeparateArena()) {
      auto [known, isNew] = before.try_emplace(function);
      if (isNew)
        known->second = estimateTransfers(*function, times, target, presentSlotBytes);
      seconds += static_cast<double>(runs) *
                 addedSeconds(known->second,
                              estimateTransfers(*function, times, target, getSlotBytes(), added));
    }
  return seconds;
}

void VariableMover::provideSlots(MemorySpace space, int64_t bytes, EditLog &edits) {
  if (TransferSlotsOp slots = TransferSlotsOp::find(module, space)) {
    if (bytes > static_cast<int64_t>(slots.getSize()))
      edits.setSize(slots, bytes);
  } else if (bytes) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    edits.insert(TransferSlotsOp::create(builder, module.getLoc(), slotCount, bytes, space));
  }
}

int64_t VariableMover::reserveRelease(const FunctionMemory &function, int64_t time, int64_t bytes) {
  CopyPlacement &placement = *placements[&function];
  const int64_t release = placement.findRelease(
      time, bytes, static_cast<int64_t>(function.getOrder().size()) - 1, limit - bytes);
  placement.reserve(time, release, bytes);
  return release;
}

void VariableMover::hold(const FunctionMemory &function, ValueRange values, int64_t time,
                         int64_t release, EditLog &edits) {
  if (release <= time || values.empty())
    return;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(placements.at(&function)->getOperation(release));
  edits.insert(HoldOp::create(builder, values.front().getLoc(), values));
}
