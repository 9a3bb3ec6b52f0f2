//===- ExchangeSchedule.cpp - Schedule of exchanges and computation ---------------------------===//

#include "passes/overlap/ExchangeSchedule.h"

using namespace mlir;
using namespace mtc;

/// The number of operations before or after a wait that can move.
static constexpr size_t window = 96;
/// Shorter operations than this part of a wait do not move.
static constexpr double minPart = 1.0 / 32;

bool mtc::isExchange(Operation *op, OperationTimes &times) {
  return isa<CollectiveOpInterface>(op) && times.of(op) > 0;
}

ExchangeSchedule::ExchangeSchedule(const FunctionMemory &function, OperationTimes &times,
                                   std::optional<int64_t> limit)
    : model(function), limit(limit), nodes(model.size()), order(model.getOrder()),
      position(model.size()) {
  for (auto [at, node] : llvm::enumerate(order)) {
    Operation *op = model.getOperation(node);
    nodes[node] = {.seconds = times.of(op),
                   .isExchange = ::isExchange(op, times),
                   .isHold = isa<HoldOp>(op),
                   .isFixed = !isa<KernelOp, LibraryCallOpInterface, ScanOp>(op)};
    position[node] = at;
  }
  addDependences(function);
}

/// An operation that computes in place of an operand stays behind the other users of the operand.
/// Otherwise it would need a buffer of its own.
void ExchangeSchedule::addDependences(const FunctionMemory &function) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (unsigned node = 0; node < model.size(); ++node) {
    numbers[model.getOperation(node)] = node;
    llvm::append_range(nodes[node].before, model.before(node));
    llvm::append_range(nodes[node].after, model.after(node));
  }
  llvm::DenseMap<const PlannedValue *, SmallVector<unsigned, 4>> users;
  for (const PlannedOperation *op : function.getOrder()) {
    auto found = numbers.find(op->op);
    if (found == numbers.end())
      continue;
    for (const PlannedValue *operand : op->operands) {
      SmallVector<unsigned, 4> &earlier = users[operand];
      const bool isInPlace = llvm::any_of(op->results, [&](const PlannedValue &result) {
        return result.buffer && operand->buffer && result.buffer == operand->buffer;
      });
      for (unsigned other : isInPlace ? ArrayRef<unsigned>(earlier) : ArrayRef<unsigned>())
        if (other != found->second) {
          nodes[found->second].before.push_back(other);
          nodes[other].after.push_back(found->second);
        }
      earlier.push_back(found->second);
    }
  }
}

/// Returns whether operations are before a position.
bool ExchangeSchedule::precede(ArrayRef<unsigned> others, size_t place) const {
  return llvm::all_of(others, [&](unsigned other) { return position[other] < place; });
}

/// Returns when the results of exchanges that an operation uses have arrived.
double ExchangeSchedule::readyTime(unsigned node) const {
  double ready = 0;
  for (unsigned other : nodes[node].before)
    ready = std::max(ready, nodes[other].ended);
  return ready;
}

/// Returns the position before an operation and the holds directly before it.
size_t ExchangeSchedule::placeBefore(size_t at) const {
  while (at > 0 && nodes[order[at - 1]].isHold)
    --at;
  return at;
}

/// Moves an operation to before the one at `place`, if the memory permits it.
bool ExchangeSchedule::move(size_t from, size_t place) {
  if (!limit || from + 1 == place || from == place)
    return false;
  const unsigned node = order[from];
  const bool isLater = from < place;
  model.move({node}, place == 0 ? LiveProfile::kBegin : order[place - 1]);
  const int64_t after = isLater ? model.findPeakBetween(order[from + 1], node)
                                : model.findPeakBetween(node, order[from - 1]);
  if (after > *limit) {
    model.undoMove();
    return false;
  }
  model.keepMove();
  ++moves;
  auto begin = order.begin() + std::min(from, place);
  if (isLater)
    std::rotate(begin, begin + 1, order.begin() + place);
  else
    std::rotate(begin, order.begin() + from, order.begin() + from + 1);
  for (size_t at = std::min(from, place); at <= std::max(from, place) && at < order.size(); ++at)
    position[order[at]] = at;
  return true;
}

/// Moves the hold after each exchange to the first user of the results. Otherwise operations in
/// between would reuse the memory of sent values, and so wait for the exchange.
void ExchangeSchedule::holdSentValues() {
  for (size_t at = 0; at + 1 < order.size(); ++at) {
    if (!nodes[order[at]].isExchange || !nodes[order[at + 1]].isHold)
      continue;
    size_t user = order.size();
    for (unsigned other : nodes[order[at]].after)
      if (!nodes[other].isHold)
        user = std::min(user, position[other]);
    if (user != order.size() && user > at + 2)
      move(at + 1, user);
  }
}

/// Moves the next exchange to before the operation at `at` if its result would arrive too late
/// after a start behind the operation.
bool ExchangeSchedule::startEarly(size_t &at) {
  const size_t place = placeBefore(at);
  const double next = now + nodes[order[at]].seconds;
  if (networkFree > next)
    return false;
  double between = 0;
  double blocked = -1; // Computation before the first exchange that cannot start yet.
  for (size_t from = at + 1; from < std::min(at + window, order.size()); ++from) {
    const Node &exchange = nodes[order[from]];
    if (!exchange.isExchange) {
      between += exchange.seconds;
      continue;
    }
    if (!precede(exchange.before, place) || readyTime(order[from]) > now) {
      blocked = blocked < 0 ? between : blocked;
      continue;
    }
    size_t user = order.size();
    for (unsigned other : exchange.after)
      user = std::min(user, position[other]);
    double untilUser = between;
    const double needed = exchange.seconds;
    for (size_t i = from + 1; i < user && untilUser < needed; ++i)
      untilUser += nodes[order[i]].isExchange ? 0 : nodes[order[i]].seconds;
    if (untilUser >= needed || (blocked >= 0 && blocked < needed) || !move(from, place))
      return false;
    at = place;
    return true;
  }
  return false;
}

/// Delays an operation before the exchange, on which nothing up to the waiting operation depends,
/// so that the exchange starts earlier.
bool ExchangeSchedule::fillWithEarlier(size_t &at, double ready) {
  const size_t place = placeBefore(at);
  for (unsigned other : nodes[order[at]].before) {
    const Node &exchange = nodes[other];
    // An exchange that waits for another one does not start earlier.
    if (!exchange.isExchange || exchange.ended < ready || exchange.networkFree > exchange.now)
      continue;
    const size_t begin = position[other];
    for (size_t back = 1; back <= std::min(begin, window); ++back) {
      const size_t from = begin - back;
      Node &node = nodes[order[from]];
      if (node.isFixed || node.isExchange || node.isDelayed ||
          node.seconds < minPart * (ready - now) ||
          llvm::any_of(
              node.after, [&](unsigned user) { return position[user] < place; }) ||
          !move(from, place))
        continue;
      node.isDelayed = true;
      now = node.now; // Time is counted again from the position that the operation has left.
      networkFree = node.networkFree;
      at = from;
      return true;
    }
  }
  return false;
}

/// Moves a later operation, which does not depend on the waiting one, to before it.
bool ExchangeSchedule::fillWithLater(size_t &at, double ready) {
  const size_t place = placeBefore(at);
  for (size_t from = at + 1; from < std::min(at + window, order.size()); ++from) {
    const Node &node = nodes[order[from]];
    if (node.isFixed || node.isExchange || node.seconds < minPart * (ready - now) ||
        !precede(node.before, place) || readyTime(order[from]) > now || !move(from, place))
      continue;
    at = place;
    return true;
  }
  return false;
}

double ExchangeSchedule::run() {
  holdSentValues();
  for (size_t at = 0; at < order.size();) {
    Node &node = nodes[order[at]];
    node.now = now;
    node.networkFree = networkFree;
    if (node.isHold) {
      ++at;
      continue;
    }
    const double ready = readyTime(order[at]);
    if (node.isExchange) {
      networkFree = node.ended = std::max({now, networkFree, ready}) + node.seconds;
      ++at;
      continue;
    }
    if (startEarly(at))
      continue;
    if (ready > now && (fillWithEarlier(at, ready) || fillWithLater(at, ready)))
      continue;
    now = std::max(now, ready) + node.seconds;
    ++at;
  }
  return std::max(now, networkFree);
}
