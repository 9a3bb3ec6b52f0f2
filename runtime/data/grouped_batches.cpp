// Steps are numbered by group, and a permutation of the numbers is their order in an epoch.
#include "runtime/data/grouped_batches.h"

#include <algorithm>
#include <cassert>

namespace mtc::runtime {

/// Returns the seed of one of several independent orders.
static uint64_t seedOf(uint64_t seed, size_t number) {
  constexpr uint64_t goldenRatio = 0x9E3779B97F4A7C15;
  return seed + goldenRatio * (number + 1);
}

GroupedBatches::GroupedBatches(const RowShapes &shapes, int64_t parts, bool dropsRest, bool shuffle,
                               uint64_t seed, int64_t firstStep, int64_t firstEpoch)
    : shapes(shapes), parts(parts), groups(shapes.groups()), firstStep(firstStep),
      firstEpoch(firstEpoch) {
  divide(dropsRest);
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].firstStep = epochSteps;
    epochSteps += groups[i].steps();
    mostRows = std::max(mostRows, groups[i].perStep);
    if (groups[i].rows)
      groups[i].order.emplace(groups[i].rows, shuffle, seedOf(seed, i));
  }
  if (epochSteps)
    order.emplace(epochSteps, shuffle, seedOf(seed, groups.size()));
}

/// Divides the rows into steps.
void GroupedBatches::divide(bool dropsRest) {
  for (size_t i = 0; i < groups.size(); ++i) {
    Group &group = groups[i];
    group.perStep = shapes.batchOfGroup(i) * parts;
    group.rows += shapes.rowsOf(i);
    group.fullSteps = group.rows / group.perStep;
    group.shape = shapes.chooseFor(i, group.perStep, parts).value();
    if (group.rest() == 0)
      continue;
    size_t next = i + 1;
    while (next < groups.size() && !(shapes.rowsOf(next) && shapes.holds(next, i)))
      ++next;
    if (next < groups.size()) {
      groups[next].received.push_back({i, group.rest()});
      groups[next].rows += group.rest();
    } else {
      if (!dropsRest)
        group.restShape = shapes.chooseFor(i, group.rest(), parts);
      if (!group.restShape)
        dropped += group.rest();
    }
  }
}

int64_t GroupedBatches::rowOf(size_t number, int64_t index, int64_t epoch) const {
  const Group &group = groups[number];
  int64_t member = group.order->row(epoch * group.rows + index);
  if (member < shapes.rowsOf(number))
    return shapes.row(number, member);
  member -= shapes.rowsOf(number);
  for (const auto &[from, count] : group.received) {
    if (member < count)
      return rowOf(from, groups[from].fullSteps * groups[from].perStep + member, epoch);
    member -= count;
  }
  assert(false && "a member of the group");
  return 0;
}

void GroupedBatches::batchOf(int64_t step, int64_t part, int64_t partCount, Batch &result) const {
  assert(partCount == parts && epochSteps > 0);
  const int64_t done = step - 1 - firstStep, epoch = firstEpoch + done / epochSteps,
                number = order->row(epoch * epochSteps + done % epochSteps);
  const auto after =
      std::upper_bound(groups.begin(), groups.end(), number,
                       [](int64_t wanted, const Group &group) { return wanted < group.firstStep; });
  const auto index = static_cast<size_t>(after - groups.begin()) - 1;
  const Group &group = groups[index];
  const int64_t own = number - group.firstStep, first = own * group.perStep,
                count = std::min(group.perStep, group.rows - first);
  result.shape = own < group.fullSteps ? group.shape : *group.restShape;
  const int64_t size = shapes.batchOf(result.shape), begin = part * size, end = begin + size;
  result.position = (epoch * epochSteps + number) * mostRows + begin;
  result.rows.clear();
  for (int64_t i = begin; i < end; ++i)
    result.rows.push_back(rowOf(index, first + std::min(i, count - 1), epoch));
  result.filler = std::clamp<int64_t>(end - count, 0, size);
}

std::optional<int64_t> GroupedBatches::stepsOf(int64_t epochs) const {
  int64_t steps = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(0, epochs - firstEpoch), epochSteps, &steps) ||
      __builtin_add_overflow(steps, firstStep, &steps))
    return std::nullopt;
  return steps;
}

bool GroupedBatches::endsEpoch(int64_t step) const {
  const int64_t done = step - firstStep;
  return done > 0 && epochSteps > 0 && done % epochSteps == 0;
}

} // namespace mtc::runtime
