//===- MicroStepSplit.cpp - Forward and backward part of a stage's micro-step -----------------===//

#include "passes/memory/MicroStepSplit.h"

#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

/// Returns the value of which another one is a reshaping.
static Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape->getOperand(0);
  return value;
}

std::optional<MicroStepSplit> MicroStepSplit::find(func::FuncOp function) {
  MicroStepSplit split(function.front());
  llvm::DenseSet<Attribute> sentSlots;
  auto module = function->getParentOfType<ModuleOp>();
  for (auto message : module.getOps<MessageOp>())
    if (message.getSent() != message.getBackward())
      for (auto symbol : message.getVariables().getAsRange<FlatSymbolRefAttr>())
        (message.getSent() ? sentSlots : split.gradients).insert(symbol);
  SmallVector<Operation *> writes;
  FlatSymbolRefAttr gradient;
  for (Operation &op : split.block) {
    for (FlatSymbolRefAttr variable : readVariables(&op))
      if (split.gradients.contains(variable))
        gradient = variable;
    for (FlatSymbolRefAttr variable : writtenVariables(&op)) {
      split.written.insert(variable);
      if (sentSlots.contains(variable))
        writes.push_back(&op);
    }
  }
  if (!gradient)
    return std::nullopt;
  split.copies = static_cast<int64_t>(module.lookupSymbol<VariableOp>(gradient).getCopies());
  for (Operation *write : writes)
    if (auto each = dyn_cast<WriteOp>(write))
      split.sent.try_emplace(withoutReshapes(each.getValue()), each);
  split.addForward(writes);
  split.addPreparations();
  split.findSaved();
  return split;
}

/// Adds operations to the forward part, with those on which they depend.
void MicroStepSplit::addForward(ArrayRef<Operation *> operations) {
  const VariableAccesses accesses(block);
  SmallVector<Operation *> open;
  auto add = [&](Operation *op) {
    if (op && forward.insert(op).second)
      open.push_back(op);
  };
  llvm::for_each(operations, add);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    for (Value operand : op->getOperands())
      add(operand.getDefiningOp());
    for (FlatSymbolRefAttr variable : readVariables(op))
      for (Operation *write : accesses.writersOf(variable))
        if (write->isBeforeInBlock(op))
          add(write);
  }
}

/// Adds operations that make slots of forward values: copies to other memory spaces, which save
/// device memory only if the slots are in these spaces, with the holds of the copied values; and
/// assembled values, since slots of their tiles would have to be copied.
void MicroStepSplit::addPreparations() {
  auto isForwardValue = [&](Value value) {
    Operation *source = rootOf(value).getDefiningOp();
    return !source || forward.contains(source);
  };
  SmallVector<Operation *> found;
  for (Operation &op : block) {
    auto move = dyn_cast<MoveOp>(op);
    if ((move && move.getSpace() != MemorySpace::Device && isForwardValue(move.getValue())) ||
        (isa<HoldOp, AssembleOp>(op) && llvm::all_of(op.getOperands(), isForwardValue)))
      found.push_back(&op);
  }
  addForward(found);
}

/// Returns whether the backward part can read the value itself.
bool MicroStepSplit::isRepeatable(Value root) const {
  Operation *source = root.getDefiningOp();
  return source && isa<ReadOp, ReadFlatOp>(source) &&
         llvm::none_of(readVariables(source),
                       [&](FlatSymbolRefAttr variable) { return written.contains(variable); });
}

void MicroStepSplit::findSaved() {
  llvm::SetVector<Value> used;
  for (Operation &op : block) {
    if (forward.contains(&op) || op.hasTrait<mtc::View>() || isa<HoldOp>(op))
      continue;
    for (Value operand : op.getOperands())
      used.insert(rootOf(operand));
  }
  auto add = [&](Value value) {
    if (used.contains(value) && !isRepeatable(value))
      saved.insert(value);
  };
  llvm::for_each(block.getArguments(), add);
  for (Operation &op : block)
    if (forward.contains(&op)) {
      llvm::for_each(op.getResults(), add);
      lastForward = &op;
    }
}

LogicalResult MicroStepSplit::verify() const {
  llvm::DenseMap<Attribute, Operation *> forwardAccesses, forwardWrites;
  for (Operation &op : block) {
    if (!forward.contains(&op))
      continue;
    for (FlatSymbolRefAttr variable : readVariables(&op)) {
      if (gradients.contains(variable))
        return op.emitOpError("reads the gradient ")
               << variable << " of a later stage, on which a message to a later stage depends";
      forwardAccesses.try_emplace(variable, &op);
    }
    for (FlatSymbolRefAttr variable : writtenVariables(&op)) {
      forwardAccesses.try_emplace(variable, &op);
      forwardWrites.try_emplace(variable, &op);
    }
  }
  for (Operation &op : block) {
    if (forward.contains(&op))
      continue;
    auto refuse = [&](FlatSymbolRefAttr variable, Operation *other) {
      InFlightDiagnostic error = op.emitOpError("accesses ");
      error << variable << " in the backward part of a micro-step, and so does the forward part;"
            << " micro-steps in progress would change each other's value";
      error.attachNote(other->getLoc()) << "the forward part accesses it here";
      return error;
    };
    for (FlatSymbolRefAttr variable : readVariables(&op))
      if (Operation *other = forwardWrites.lookup(variable))
        return refuse(variable, other);
    for (FlatSymbolRefAttr variable : writtenVariables(&op))
      if (Operation *other = forwardAccesses.lookup(variable))
        return refuse(variable, other);
  }
  return success();
}
