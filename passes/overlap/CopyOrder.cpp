//===- CopyOrder.cpp - Order of the copies to the device of a step ----------------------------===//

#include "passes/overlap/CopyOrder.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cassert>

using namespace mtc;

void CopyOrder::add(int64_t copy, int64_t after, int64_t user) {
  works[copy].isOrdered = true;
  released[after].push_back(copy);
  awaited[user].push_back(copy);
}

void CopyOrder::release(int64_t number, double time) {
  for (int64_t copy : released[number])
    pending.push({time, copy});
}

/// Starts the next copy, unless it would start at `before` or later.
bool CopyOrder::startNext(double before) {
  if (ready.empty() && pending.empty())
    return false;
  double start = idle;
  if (ready.empty())
    start = std::max(start, pending.top().first);
  if (start >= before)
    return false;
  for (; !pending.empty() && pending.top().first <= start; pending.pop())
    ready.push(pending.top().second);
  const int64_t copy = ready.top();
  ready.pop();
  order.push_back(copy);
  ended[copy] = idle = start + works[copy].seconds;
  return true;
}

llvm::SmallVector<int64_t, 0> CopyOrder::find() {
  const auto size = static_cast<int64_t>(works.size());
  constexpr double never = std::numeric_limits<double>::infinity();
  ended.assign(size, -1);
  llvm::SmallDenseMap<int64_t, double> streams; // When each other stream is idle.
  double now = 0;
  release(size, now);
  for (int64_t number = 0; number < size; ++number) {
    double arrived = now;
    for (int64_t copy : awaited[number]) {
      while (ended[copy] < 0) {
        [[maybe_unused]] const bool hasStarted = startNext(never);
        assert(hasStarted && "a copy can start before its user");
      }
      arrived = std::max(arrived, ended[copy]);
    }
    const auto [stream, seconds, isOrdered] = works[number];
    if (isOrdered)
      continue;
    double &end = stream ? streams[stream] : now;
    end = std::max(end, arrived) + seconds;
    release(number, end);
    while (startNext(now)) {
    }
  }
  while (startNext(never)) {
  }
  return std::move(order);
}
