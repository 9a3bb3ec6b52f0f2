//===- Rematerializer.cpp - Rematerialization of values before their late uses ----------------===//

#include "passes/recompute/Rematerializer.h"

#include "ir/NodeNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSlice.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mtc;

/// Returns whether an operation exchanges computed values. Gathers of parameters are repeated as
/// `Gathers` decides.
static bool exchangesValues(Operation *op) {
  return isa<AllGatherOp, AllToAllOp, OwnPieceOp>(op) &&
         llvm::none_of(op->getOperands(),
                       [](Value value) { return isa_and_nonnull<ReadOp>(value.getDefiningOp()); });
}

bool mtc::computes(Operation *op) {
  return isa<KernelOp, LibraryCallOpInterface, AssembleOp>(op) || exchangesValues(op);
}

double Rematerializer::Added::time(OperationTimes &times) const {
  double sum = 0;
  for (const Copy &each : copies)
    sum += each.part * times.of(each.original);
  return sum;
}

double Rematerializer::Added::remember(OperationTimes &times) const {
  for (const Copy &each : copies)
    times.set(each.copy, each.part * times.of(each.original));
  return time(times);
}

bool mtc::isSmallComparedTo(Value value, Operation *op) {
  auto bytes = [](Value each) { return byteSize(cast<RankedTensorType>(each.getType())); };
  int64_t computed = 0;
  for (Value result : op->getResults())
    computed += bytes(result);
  return bytes(value) <= computed / 64;
}

/// Returns whether the value is used at or after `user` in any case. Users without a place in the
/// order are copies whose operands are not chosen yet.
bool Rematerializer::isAliveAt(Value value, Operation *user) const {
  return kept.contains(value) || llvm::any_of(findUses(value), [&](OpOperand *use) {
           Operation *other = use->getOwner();
           return other == user || (order.contains(other) && order.isBefore(user, other));
         });
}

bool mtc::mayRunAgain(Operation *op) {
  auto recomputable = dyn_cast<RecomputableOpInterface>(op);
  // All ranks recompute the same exchanges in the same order.
  return (isPure(op) || exchangesValues(op)) && (!recomputable || recomputable.isRecomputable());
}

bool Rematerializer::mayCompute(Operation *op, Operation *user) const {
  if (!mayRunAgain(op))
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
        if (order.isBefore(source, write) && order.isBefore(write, user))
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

/// Moves a copy, and the copies that it uses, before an earlier user. That is impossible if one of
/// them uses a result of the user.
void Rematerializer::moveUp(Operation *copy, const Need &need) {
  if (copy == need.user)
    isPossible = false;
  if (!isPossible || order.isBefore(copy, need.user))
    return;
  for (Value operand : copy->getOperands())
    if (Operation *source = operand.getDefiningOp())
      moveUp(source, need);
  if (!isPossible)
    return;
  const BlockOrder::Place place = order.placeOf(copy);
  order.put(copy, need.user);
  need.added->moved.push_back(copy);
  listener.notifyOperationInserted(copy, {});
  undo.push_back([this, copy, place] {
    order.putBack(copy, place);
    listener.notifyOperationInserted(copy, {});
  });
}

/// Returns whether a kernel before `user` can use the value without recomputing anything.
bool Rematerializer::isAvailableAt(Value value, Operation *user) const {
  Value root = rootOf(value);
  Operation *source = root.getDefiningOp();
  return !source || !computes(source) || copies.contains(root) || isAliveAt(root, user);
}

/// Returns a detached operation that computes a value before `user`, with the original operands.
Operation *Rematerializer::cloneFor(OpResult value, Operation *user) const {
  OpBuilder builder(user);
  Operation *copy = nullptr;
  if (auto kernel = dyn_cast<KernelOp>(value.getOwner()))
    copy = sliceKernel(builder, kernel, value.getResultNumber(), [&](Value other) {
      return rootOf(other) != value && isAvailableAt(other, user);
    });
  if (!copy)
    return value.getOwner()->clone();
  copy->remove();
  return copy;
}

void Rematerializer::insert(Operation *copy, Operation *original, const Need &need) {
  order.put(copy, need.user); // Its recomputed operands are already before the user.
  copy->setLoc(backwardLocation(original->getLoc()));
  copy->setDiscardableAttr(recomputedAttribute, UnitAttr::get(copy->getContext()));
  listener.notifyOperationInserted(copy, {});
  undo.push_back([this, copy] {
    listener.notifyOperationErased(copy);
    hashes.erase(copy);
    for (Value result : copy->getResults())
      inputs.erase(result);
    order.erase(copy);
  });
}

void Rematerializer::record(Value value, Value copy) {
  copies[value] = copy;
  undo.push_back([this, value] { copies.erase(value); });
}

/// Returns the fraction of an operation's time that a copy takes. Kernels are assumed to be
/// memory-bound.
static double partOf(Operation *copy, Operation *original) {
  auto kernel = dyn_cast<KernelOp>(copy);
  if (!kernel)
    return 1;
  auto bytes = static_cast<double>(cast<KernelOp>(original).getCost().bytes);
  return bytes > 0 ? std::min(1.0, static_cast<double>(kernel.getCost().bytes) / bytes) : 1;
}

/// Returns the copy of a kernel's or call's result that is computed before the user.
Value Rematerializer::copyAt(OpResult value, const Need &need) {
  if (Value known = copies.lookup(value)) {
    moveUp(known.getDefiningOp(), need);
    return known;
  }
  if (!isPossible)
    return value;
  Operation *op = value.getOwner();
  const bool isTogether = llvm::is_contained(need.together, value);
  Operation *copy = isTogether ? op->clone() : cloneFor(value, need.user);
  isPossible = mayCompute(copy, need.user);
  if (!isPossible) {
    copy->erase();
    return value;
  }
  for (OpOperand &operand : copy->getOpOperands())
    operand.set(valueAt(operand.get(), need, copy));
  insert(copy, op, need);
  need.added->copies.push_back({copy, op, value, partOf(copy, op)});
  recordCopy(value, copy, need);
  return copies.lookup(value);
}

/// Records the results that the copy computes. Other results of the operation of a group stay live,
/// so that recomputation of later operations does not need the copy.
void Rematerializer::recordCopy(OpResult value, Operation *copy, const Need &need) {
  if (llvm::is_contained(need.together, value)) {
    for (OpResult each : need.together)
      record(each, copy->getResult(each.getResultNumber()));
    return;
  }
  Operation *op = value.getOwner();
  if (copy->getNumResults() == op->getNumResults())
    for (auto [original, again] : llvm::zip_equal(op->getResults(), copy->getResults()))
      record(original, again);
  else
    record(value, copy->getResult(0));
}

/// Returns the value to use before `need.user`, recomputing it if necessary. `consumer` is the
/// operation that uses it.
Value Rematerializer::valueAt(Value value, const Need &need, Operation *consumer) {
  Operation *op = value.getDefiningOp();
  if (op && isGathered(value))
    return gatheredAt(value, need);
  if (!op || !(computes(op) || op->hasTrait<mtc::View>()))
    return value; // Variables and arguments are always available.
  if (op->hasTrait<mtc::View>()) {
    Value source = valueAt(op->getOperand(0), need, consumer);
    if (source == op->getOperand(0))
      return value;
    Operation *copy = op->clone();
    copy->setOperand(0, source);
    insert(copy, op, need);
    return copy->getResult(0);
  }
  const bool isKept = need.dead == DeadOperands::Keep || isSmallComparedTo(value, consumer);
  if (!copies.contains(value) && (isKept || isAliveAt(value, need.user)))
    return value;
  return copyAt(cast<OpResult>(value), need);
}

/// Returns the value of a gather that is live before `need.user`. If there is none, moves up the
/// next gather and returns its value.
Value Rematerializer::gatheredAt(Value value, const Need &need) {
  Value next;
  for (Value equal : gathers.equalTo(value)) {
    Operation *gather = equal.getDefiningOp();
    const bool isBefore = order.isBefore(gather, need.user);
    if (isBefore && isAliveAt(equal, need.user))
      return equal;
    if (!isBefore && (!next || order.isBefore(gather, next.getDefiningOp())))
      next = equal;
  }
  if (!next)
    return value;
  Added unpriced; // The transfer takes no more time than before.
  moveUp(next.getDefiningOp(), {need.user, need.dead, &unpriced});
  return next;
}

Operation *Rematerializer::firstUser(Value value, Operation *place) const {
  Operation *first = nullptr;
  for (OpOperand *use : findUses(value)) {
    Operation *user = use->getOwner();
    if (order.isBefore(place, user) && (!first || order.isBefore(user, first)))
      first = user;
  }
  return first;
}

SmallVector<unsigned> Rematerializer::findDeadOperands(OpResult value, Operation *place) const {
  SmallVector<unsigned> dead;
  llvm::SmallDenseSet<Value> roots;
  Operation *op = value.getOwner(), *user = firstUser(value, place);
  auto isMadeElementwise = [&](OpResult operand) {
    if (!isa<KernelOp>(operand.getOwner()))
      return false;
    auto kernel = dyn_cast<KernelOp>(cloneFor(operand, user));
    const bool isMade =
        kernel.getShape() == FusibleShape::Elementwise &&
        llvm::all_of(kernel.getInputs(), [&](Value each) { return isAvailableAt(each, user); });
    kernel->erase();
    return isMade;
  };
  for (OpOperand &operand : op->getOpOperands()) {
    Value root = rootOf(operand.get());
    if (!isAvailableAt(root, user) && !isSmallComparedTo(root, op) && roots.insert(root).second &&
        !isMadeElementwise(cast<OpResult>(root)))
      dead.push_back(operand.getOperandNumber());
  }
  return dead;
}

std::optional<Rematerializer::Added> Rematerializer::evict(ArrayRef<OpResult> values,
                                                           Operation *place, DeadOperands dead,
                                                           ArrayRef<OpResult> together) {
  Operation *first = nullptr;
  for (OpResult value : values)
    if (Operation *user = firstUser(value, place); user && (!first || order.isBefore(user, first)))
      first = user;
  if (!first)
    return std::nullopt;
  const size_t before = mark();
  isPossible = true;
  Added added;
  copyAt(values.front(), {first, dead, &added, together});
  for (OpResult value : values)
    for (OpOperand *use : findUses(value))
      if (isPossible && order.isBefore(place, use->getOwner()))
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
