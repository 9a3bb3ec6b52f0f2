//===- WindowMover.cpp - Accesses offloaded variables in windows of kernels -------------------===//

#include "passes/offload/WindowMover.h"

#include "passes/kernels/KernelEditing.h"
#include "passes/offload/MovedUses.h"

using namespace mlir;
using namespace mtc;

/// Users with at most this number of operations in between share a copy.
static constexpr int64_t nearOperations = 8;

//===------------------------------------------------------------------------------------------===//
// Planning
//===------------------------------------------------------------------------------------------===//

/// Returns the operands of a kernel that are in another memory space, numbered with inputs before
/// results. A slice that is both read and written is listed once.
WindowMover::Operands WindowMover::findPresent(const PlannedOperation &kernel) {
  Operands operands;
  llvm::SmallDenseSet<int64_t, 4> offsets;
  auto add = [&](const PlannedValue &value, unsigned number) {
    if (value.buffer && value.buffer->space != MemorySpace::Device &&
        offsets.insert(value.buffer->fixedOffset.value_or(-1)).second)
      operands.insert(number);
  };
  for (auto [number, result] : llvm::enumerate(kernel.results))
    add(result, kernel.operands.size() + number);
  for (auto [number, operand] : llvm::enumerate(kernel.operands))
    add(*operand, number);
  return operands;
}

/// Returns why a kernel cannot run in windows if `values` are in another memory space, too.
std::string WindowMover::tryWindows(KernelOp kernel, const PlannedOperation &op,
                                    const llvm::DenseSet<Value> &values) {
  std::string why;
  FailureOr<KernelWindows> windows = KernelWindows::of(kernel, why);
  if (failed(windows))
    return why;
  Operands operands = findPresent(op);
  if (auto known = planned.find(kernel); known != planned.end())
    operands.insert_range(known->second);
  // The result is stored where the operand was.
  for (auto [number, result] : llvm::enumerate(op.results))
    if (values.contains(result.value))
      operands.insert(op.operands.size() + number);
  constexpr const char *whole = "every row of a kernel reads all of it";
  for (auto [number, operand] : llvm::enumerate(op.operands))
    if (values.contains(operand->value) && !windows->getBytesPerRow(number))
      return whole;
  int64_t bytes = 0;
  for (unsigned operand : operands) {
    if (!windows->getBytesPerRow(operand))
      return whole;
    bytes += llvm::alignTo(windows->getBytesPerRow(operand) * windows->getRows(),
                           TransferSlotsOp::alignment);
  }
  const int64_t slot = std::max(slotBytes, std::min(window, bytes));
  if (!windows->getMaxRows(slot, operands.getArrayRef(), paddedBytes(1)))
    return "a few of its rows exceed --offload-window";
  if (op.scratchBytes)
    return "a kernel that reads or writes it needs scratch";
  slotBytes = slot;
  planned[kernel] = operands;
  return "";
}

/// Adds copies of a value on the device for its users other than those in windows.
void WindowMover::addFetches(const FunctionMemory &function, Value value, int64_t after,
                             llvm::function_ref<bool(Operation *)> isInWindows, Moves &moves) {
  SmallVector<std::pair<int64_t, Operation *>> users;
  for (OpOperand *use : findUses(value))
    if (Operation *user = use->getOwner(); !isInWindows(user) && function[user].written.empty())
      users.push_back({function[user].time, user});
  llvm::sort(users);
  users.erase(llvm::unique(users), users.end());
  const int64_t bytes = PlannedValue::bytesOf(value);
  const int64_t defined = function[value.getDefiningOp()].time;
  CopyPlacement &placement = *placements[&function];
  for (ArrayRef<std::pair<int64_t, Operation *>> rest = users; !rest.empty();) {
    size_t count = 1;
    while (count < rest.size() && rest[count].first - rest[count - 1].first <= nearOperations)
      ++count;
    const int64_t first = rest.front().first, last = rest[count - 1].first;
    const int64_t begin = placement.findStart(first, bytes, after, limit - bytes);
    placement.reserve(begin, last, bytes);
    moves.fetches.push_back({&function, value,
                             llvm::to_vector<2>(llvm::make_second_range(rest.take_front(count))),
                             begin, first, last, begin <= defined});
    add(function, {PlannedCopy::Kind::Fetch, first, bytes, begin});
    rest = rest.drop_front(count);
  }
}

std::string WindowMover::plan(const VariableGroup &group) {
  Moves moves;
  moves.variables.assign(group.variables.begin(), group.variables.end());
  const SmallVector<Access> users = accessesTo(group, reads), writers = accessesTo(group, writes);
  for (const Access &write : writers)
    if (!write.op->operands.front()->definition)
      return "it is assigned an input";

  // Each kernel that writes the variables runs in windows, or needs whole copies.
  llvm::DenseSet<Value> values; // Values in the variables.
  for (const Access &read : users)
    values.insert(read.op->results.front().value);
  for (const Access &write : writers)
    values.insert(write.op->operands.front()->value);
  llvm::MapVector<Operation *, std::string> refusals; // By the operation that computes the value.
  for (const Access &write : writers) {
    const PlannedOperation *writer = write.op->operands.front()->definition;
    auto [refusal, isNew] = refusals.insert({writer->op, "a library call writes it"});
    if (writer->isOnHost())
      refusal->second = ""; // It accesses the variable in place.
    else if (auto kernel = dyn_cast<KernelOp>(writer->op); kernel && isNew)
      refusal->second = tryWindows(kernel, *writer, values);
    // Moving several variables as a whole would bring all parameters to the device.
    if (!refusal->second.empty() && write.op->written.size() > 1)
      return refusal->second;
  }
  auto isInWindows = [&](Operation *op) {
    if (auto kernel = dyn_cast<KernelOp>(op); kernel && kernel.getOnHost())
      return true;
    auto known = refusals.find(op);
    return known != refusals.end() && known->second.empty();
  };

  for (const Access &write : writers) {
    const PlannedValue &value = *write.op->operands.front();
    const FunctionMemory &function = *write.function;
    if (isInWindows(value.definition->op)) {
      const bool isRead = llvm::any_of(value.definition->operands, [&](const PlannedValue *each) {
        return values.contains(each->value);
      });
      if (!value.definition->isOnHost())
        add(function, {PlannedCopy::Kind::Window, value.definition->time, value.bytes, 0, isRead,
                       /*isWritten=*/true});
      addFetches(function, value.value, value.definition->time, isInWindows, moves);
      continue;
    }
    const int64_t release = reserveRelease(function, write.op->time, value.bytes);
    moves.writes.push_back({&function, write.op->op, write.op->time, release});
    add(function, {PlannedCopy::Kind::Away, write.op->time, value.bytes, release});
  }
  for (const Access &read : users) {
    // The value may be fetched before it is read, but not before an earlier write of the variable.
    int64_t after = -1;
    for (const Access &write : writers)
      if (write.function == read.function && write.op->time < read.op->time)
        after = std::max(after, write.op->time);
    addFetches(*read.function, read.op->results.front().value, after, isInWindows, moves);
  }
  llvm::append_range(all.variables, moves.variables);
  llvm::append_range(all.fetches, moves.fetches);
  llvm::append_range(all.writes, moves.writes);
  return "";
}

//===------------------------------------------------------------------------------------------===//
// Queries and application
//===------------------------------------------------------------------------------------------===//

int64_t WindowMover::getCopiedBytes(const FunctionMemory &function, int64_t time) const {
  int64_t bytes = 0;
  for (const Fetch &fetch : all.fetches)
    if (fetch.function == &function && fetch.begin <= time && time <= fetch.lastUse)
      bytes += PlannedValue::bytesOf(fetch.value);
  for (const WriteBack &write : all.writes)
    if (write.function == &function && write.time <= time && time <= write.release)
      bytes += PlannedValue::bytesOf(write.write->getOperand(0));
  return bytes;
}

void WindowMover::apply(EditLog &edits) {
  for (VariableOp variable : all.variables)
    edits.setSpace(variable, target.getOffloadSpace());
  provideSlots(MemorySpace::Device, slotBytes, edits);
  for (const WriteBack &each : all.writes) {
    OpBuilder builder(each.write);
    Value value = each.write->getOperand(0);
    auto move = edits.insert(MoveOp::create(builder, each.write->getLoc(), value.getType(), value,
                                            target.getOffloadSpace()));
    edits.setOperand(each.write->getOpOperand(0), move);
    hold(*each.function, value, each.time, each.release, edits);
  }
  for (const Fetch &each : all.fetches) {
    const bool isEarly = each.begin < each.firstUse;
    OpBuilder builder(isEarly ? placements.at(each.function)->getOperation(each.begin)
                              : each.users.front());
    Value source = each.value;
    if (each.startsBeforeRead)
      source = edits.insert(builder.clone(*source.getDefiningOp()))->getResult(0);
    auto move = edits.insert(MoveOp::create(builder, each.users.front()->getLoc(), source.getType(),
                                            source, MemorySpace::Device));
    readMoved(edits, each.users, each.value, move);
  }
}
