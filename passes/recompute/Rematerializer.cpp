//===- Rematerializer.cpp - Values are computed again for their late readers ------------------===//

#include "passes/recompute/Rematerializer.h"

#include "ir/DiscardableAttributes.h"
#include "ir/NodeNames.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mtc;

/// Whether it has a result that is kept for the operation, not one that is there all the same.
static bool computes(Operation *op) { return isa<KernelOp, LibraryCallOpInterface>(op); }

/// A value of a small part of what it helps to compute is kept, not computed again.
static bool isSmallBeside(Value value, Operation *op) {
  auto bytes = [](Value each) { return byteSize(cast<RankedTensorType>(each.getType())); };
  int64_t computed = 0;
  for (Value result : op->getResults())
    computed += bytes(result);
  return bytes(value) <= computed / 64;
}

/// Whether something reads the value at or behind `reader` all the same.
bool Rematerializer::isAliveAt(Value value, Operation *reader) const {
  return llvm::any_of(findReaders(value), [&](OpOperand *use) {
    return use->getOwner() == reader || reader->isBeforeInBlock(use->getOwner());
  });
}

bool Rematerializer::mayCompute(Operation *op, Operation *reader) const {
  auto recomputable = dyn_cast<RecomputableOpInterface>(op);
  if (!isPure(op) || (recomputable && !recomputable.isRecomputable()))
    return false;
  SmallVector<Value> values(op->getOperands());
  while (!values.empty()) {
    Operation *source = values.pop_back_val().getDefiningOp();
    if (!source)
      continue;
    if (source->hasTrait<mtc::View>())
      values.push_back(source->getOperand(0));
    for (FlatSymbolRefAttr variable : readVariables(source))
      for (Operation *write : accesses.writersOf(variable))
        if (source->isBeforeInBlock(write) && write->isBeforeInBlock(reader))
          return false;
  }
  return true;
}

void Rematerializer::setOperand(OpOperand &operand, Value value) {
  Operation *owner = operand.getOwner();
  Value old = operand.get();
  const unsigned number = operand.getOperandNumber();
  operand.set(value);
  listener.notifyOperationModified(owner);
  undo.push_back([this, owner, old, number] {
    owner->setOperand(number, old);
    listener.notifyOperationModified(owner);
  });
}

/// A copy moves in front of an earlier reader, and the copies that it reads with it.
void Rematerializer::moveUp(Operation *copy, const Need &need) {
  if (copy->isBeforeInBlock(need.reader))
    return;
  for (Value operand : copy->getOperands())
    if (Operation *source = operand.getDefiningOp())
      moveUp(source, need);
  Operation *next = copy->getNextNode();
  copy->moveBefore(need.reader);
  need.added->moved.push_back(copy);
  listener.notifyOperationInserted(copy, {});
  undo.push_back([this, copy, next] {
    copy->moveBefore(next);
    listener.notifyOperationInserted(copy, {});
  });
}

Operation *Rematerializer::copyAt(Operation *op, const Need &need) {
  if (Operation *known = copies.lookup(op)) {
    moveUp(known, need);
    return known;
  }
  isPossible &= mayCompute(op, need.reader);
  if (!isPossible)
    return op;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueAt(operand, need, op));
  Operation *copy = op->clone();
  copy->setOperands(operands);
  copy->setLoc(backwardLocation(op->getLoc()));
  copy->setDiscardableAttr(recomputedAttribute, UnitAttr::get(op->getContext()));
  block.getOperations().insert(need.reader->getIterator(), copy);
  listener.notifyOperationInserted(copy, {});
  if (computes(copy)) {
    copies[op] = copy;
    need.added->copies.push_back({copy, op});
  }
  undo.push_back([this, op, copy] {
    copies.erase(op);
    listener.notifyOperationErased(copy);
    copy->erase();
  });
  return copy;
}

/// What a value holds, in front of the reader. `consumer` is what it is an operand of.
Value Rematerializer::valueAt(Value value, const Need &need, Operation *consumer) {
  Operation *op = value.getDefiningOp();
  if (!op || !(computes(op) || op->hasTrait<mtc::View>()))
    return value; // Of a variable, or an argument: it is there.
  if (op->hasTrait<mtc::View>()) {
    Value source = valueAt(op->getOperand(0), need, consumer);
    if (source == op->getOperand(0))
      return value;
    return copyAt(op, need)->getResult(0);
  }
  const bool isKept = need.dead == DeadOperands::Keep || isSmallBeside(value, consumer);
  if (!copies.contains(op) && (isKept || isAliveAt(value, need.reader)))
    return value;
  return copyAt(op, need)->getResult(cast<OpResult>(value).getResultNumber());
}

Operation *Rematerializer::firstReader(Operation *op, Operation *place) {
  Operation *first = nullptr;
  for (Value result : op->getResults())
    for (OpOperand *use : findReaders(result)) {
      Operation *reader = use->getOwner();
      if (place->isBeforeInBlock(reader) && (!first || reader->isBeforeInBlock(first)))
        first = reader;
    }
  return first;
}

SmallVector<Value> Rematerializer::findDeadOperands(Operation *op, Operation *place) const {
  SmallVector<Value> dead;
  Operation *reader = firstReader(op, place);
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    while (source && source->hasTrait<mtc::View>()) {
      operand = source->getOperand(0);
      source = operand.getDefiningOp();
    }
    if (source && computes(source) && !copies.contains(source) && !isSmallBeside(operand, op) &&
        !isAliveAt(operand, reader) && !llvm::is_contained(dead, operand))
      dead.push_back(operand);
  }
  return dead;
}

std::optional<Rematerializer::Added> Rematerializer::evict(Operation *op, Operation *place,
                                                           DeadOperands dead) {
  Operation *first = firstReader(op, place);
  if (!first)
    return std::nullopt;
  const size_t before = mark();
  isPossible = true;
  Added added;
  copyAt(op, {first, dead, &added});
  for (Value result : op->getResults())
    for (OpOperand *use : findReaders(result))
      if (isPossible && place->isBeforeInBlock(use->getOwner()))
        setOperand(*use, valueAt(use->get(), {use->getOwner(), dead, &added}, use->getOwner()));
  if (isPossible)
    return added;
  undoTo(before);
  return std::nullopt;
}

void Rematerializer::undoTo(size_t mark) {
  while (undo.size() > mark) {
    undo.back()();
    undo.pop_back();
  }
}
