//===- OrderModel.cpp - Peak memory model of schedules of a function --------------------------===//

#include "passes/memory/OrderModel.h"

using namespace mlir;
using namespace mtc;

/// A hold does no work at run time, but its position decides when memory is free.
static bool isNode(const PlannedOperation &op) { return op.takesTime() || isa<HoldOp>(op.op); }

OrderModel::OrderModel(const FunctionMemory &function) {
  for (const PlannedOperation *op : function.getOrder())
    if (isNode(*op)) {
      numbers[op] = nodes.size();
      nodes.push_back({op->op, {}, {}});
    }
  addTouches(function);
  addHazards(function);
  sortBuffers();
  numbers.clear();
  for (Node &node : nodes)
    for (SmallVector<unsigned, 4> *edges : {&node.before, &node.after}) {
      llvm::sort(*edges);
      edges->erase(llvm::unique(*edges), edges->end());
    }
  profile = LiveProfile(nodes.size());
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    for (unsigned node : buffer.by)
      nodes[node].buffers.push_back(number);
    buffer.first = buffer.by.front();
    buffer.last = buffer.by.back();
    addLiveRange(buffer, buffer.bytes);
  }
}

void OrderModel::addEdge(const PlannedOperation *first, const PlannedOperation *second) {
  if (first == second)
    return;
  unsigned from = numbers.at(first), to = numbers.at(second);
  nodes[from].after.push_back(to);
  nodes[to].before.push_back(from);
}

void OrderModel::addTouches(const FunctionMemory &function) {
  ArrayRef<LiveBuffer> temporaries = function.getBuffers().temporaries;
  const auto end = static_cast<int64_t>(function.getOrder().size());
  for (const LiveBuffer &buffer : temporaries)
    buffers.push_back({buffer.bytes, buffer.end >= end, {}});
  for (const PlannedOperation *op : function.getOrder()) {
    if (!isNode(*op))
      continue;
    auto touch = [&](const Buffer &buffer) {
      if (buffer.fixedOffset || buffer.space != MemorySpace::Device)
        return;
      SmallVector<unsigned, 4> &by = buffers[buffer.temporary].by;
      if (by.empty() || by.back() != numbers[op])
        by.push_back(numbers[op]);
    };
    for (const PlannedValue &result : op->results)
      if (result.buffer)
        touch(*result.buffer);
    for (const PlannedValue *operand : op->operands) {
      touch(*operand->buffer);
      if (operand->definition && numbers.count(operand->definition))
        addEdge(operand->definition, op);
    }
    if (op->scratchBytes)
      touch(op->scratch);
  }
}

/// Adds dependences through variables: users of a variable's old value precede the operation that
/// overwrites it, by a copy or by computing the new value in place; users of the new value follow.
void OrderModel::addHazards(const FunctionMemory &function) {
  llvm::DenseMap<const PlannedValue *, SmallVector<const PlannedOperation *, 4>> usersOfReads;
  for (const PlannedOperation *op : function.getOrder())
    if (isNode(*op))
      for (const PlannedValue *operand : op->operands)
        if (operand->definition && !operand->definition->read.empty())
          usersOfReads[operand].push_back(op);

  struct State {
    const PlannedOperation *write = nullptr;
    /// Users of the variable's value since that write.
    SmallVector<const PlannedOperation *, 4> users;
  };
  llvm::DenseMap<Attribute, State> states;
  for (const PlannedOperation *op : function.getText()) {
    for (FlatSymbolRefAttr variable : op->read) {
      State &state = states[variable];
      for (const PlannedOperation *user : usersOfReads.lookup(&op->results[0])) {
        state.users.push_back(user);
        if (state.write)
          addEdge(state.write, user);
      }
    }
    for (FlatSymbolRefAttr variable : op->written) {
      State &state = states[variable];
      const PlannedOperation *changes =
          op->isComputedInPlace ? op->operands[0]->definition : nullptr;
      for (const PlannedOperation *user : state.users) {
        addEdge(user, op);
        if (changes)
          addEdge(user, changes);
      }
      if (state.write) {
        addEdge(state.write, op);
        if (changes)
          addEdge(state.write, changes);
      }
      state = {op, {}};
    }
  }
}

void OrderModel::sortBuffers() {
  SmallVector<std::pair<int64_t, size_t>, 0> order;
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (!buffer.by.empty())
      order.push_back({-buffer.bytes, number});
  llvm::sort(order);
  std::vector<Touched> sorted;
  sorted.reserve(order.size());
  for (const auto &[bytes, number] : order)
    sorted.push_back(std::move(buffers[number]));
  buffers = std::move(sorted);
}

void OrderModel::addLiveRange(const Touched &buffer, int64_t bytes) {
  profile.addAllocated(buffer.first, bytes);
  if (!buffer.staysToEnd)
    profile.addFreed(buffer.last, bytes);
}

void OrderModel::setEnds(unsigned number, unsigned first, unsigned last) {
  Touched &buffer = buffers[number];
  addLiveRange(buffer, -buffer.bytes);
  buffer.first = first;
  buffer.last = last;
  addLiveRange(buffer, buffer.bytes);
}

OrderScore OrderModel::move(ArrayRef<unsigned> group, unsigned previous) {
  for (unsigned node : group) {
    moved.push_back({node, profile.getPrevious(node)});
    profile.moveAfter(node, previous);
    previous = node;
  }
  SmallVector<unsigned> changed;
  for (unsigned node : group)
    llvm::append_range(changed, nodes[node].buffers);
  llvm::sort(changed);
  changed.erase(llvm::unique(changed), changed.end());
  auto isMoved = [&](unsigned node) { return llvm::is_contained(group, node); };
  for (unsigned number : changed) {
    const Touched &buffer = buffers[number];
    // The other nodes have kept their order.
    const auto *firstOther = llvm::find_if_not(buffer.by, isMoved);
    std::optional<unsigned> first, last;
    if (firstOther != buffer.by.end()) {
      first = *firstOther;
      last = *std::find_if_not(buffer.by.rbegin(), buffer.by.rend(), isMoved);
    }
    for (unsigned node : group)
      if (llvm::is_contained(nodes[node].buffers, number)) {
        if (!first || isBefore(node, *first))
          first = node;
        if (!last || isBefore(*last, node))
          last = node;
      }
    ends.push_back({number, buffer.first, buffer.last});
    setEnds(number, *first, *last);
  }
  return score();
}

void OrderModel::keepMove() {
  auto isMoved = [&](unsigned node) {
    return llvm::any_of(moved, [&](const Moved &each) { return each.node == node; });
  };
  for (const Ends &each : ends) {
    SmallVector<unsigned, 4> &by = buffers[each.buffer].by;
    llvm::erase_if(by, isMoved);
    for (const auto &[node, previous] : moved)
      if (llvm::is_contained(nodes[node].buffers, each.buffer))
        by.insert(
            llvm::lower_bound(by, node, [&](unsigned a, unsigned b) { return isBefore(a, b); }),
            node);
  }
  moved.clear();
  ends.clear();
}

void OrderModel::undoMove() {
  for (const Ends &each : ends)
    setEnds(each.buffer, each.first, each.last);
  for (const Moved &each : llvm::reverse(moved))
    profile.moveAfter(each.node, each.previous);
  moved.clear();
  ends.clear();
}
