//===- OrderModel.cpp - Peak memory model of schedules of a function --------------------------===//

#include "passes/memory/OrderModel.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

OrderModel::OrderModel(const FunctionMemory &function) {
  for (const PlannedOperation *op : function.getOrder())
    if (op->takesTime()) {
      numbers[op] = nodes.size();
      nodes.push_back({op->op, {}, {}});
    }
  addTouches(function);
  addHazards(function);
  numbers.clear();
  for (Node &node : nodes)
    for (SmallVector<unsigned, 4> *edges : {&node.before, &node.after}) {
      llvm::sort(*edges);
      edges->erase(llvm::unique(*edges), edges->end());
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
    if (!op->takesTime())
      continue;
    auto touch = [&](const Buffer &buffer) {
      if (buffer.fixedOffset)
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
    if (op->takesTime())
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

OrderScore OrderModel::score(const Order &order) {
  places.resize(order.size());
  for (auto [place, node] : llvm::enumerate(order))
    places[node] = place;
  live.assign(order.size() + 1, 0);
  for (const Touched &buffer : buffers) {
    if (buffer.by.empty())
      continue;
    auto begin = static_cast<unsigned>(order.size()), end = 0U;
    for (unsigned node : buffer.by) {
      begin = std::min(begin, places[node]);
      end = std::max(end, places[node]);
    }
    live[begin] += buffer.bytes;
    live[buffer.staysToEnd ? order.size() : end + 1] -= buffer.bytes;
  }
  OrderScore score{-1, 0};
  int64_t now = 0;
  for (unsigned place = 0; place < order.size(); ++place) {
    now += live[place];
    if (now > score.peak) {
      score = {now, 0};
      peakPosition = place;
    }
    score.times += now == score.peak;
  }
  return score;
}

void OrderModel::reorder(const Order &order) {
  places.resize(order.size());
  for (auto [place, node] : llvm::enumerate(order))
    places[node] = place;
  auto renumber = [&](SmallVector<unsigned, 4> &list) {
    for (unsigned &node : list)
      node = places[node];
    llvm::sort(list);
  };
  std::vector<Node> moved;
  moved.reserve(nodes.size());
  for (unsigned node : order) {
    moved.push_back(std::move(nodes[node]));
    renumber(moved.back().before);
    renumber(moved.back().after);
  }
  nodes = std::move(moved);
  for (Touched &buffer : buffers)
    renumber(buffer.by);
}

OrderScore OrderModel::scoreAsItIs() {
  Order order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  return score(order);
}
