// The numbers of batches and samples.
#include "runtime/loop/forward_batches.h"

#include "runtime/support/quotient.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace mtc::runtime {

ForwardBatches::ForwardBatches(int64_t batch, int64_t end, const Ranks &ranks,
                               const RowShapes *shapes, bool isWhole)
    : batch(batch), end(end), own(ranks.dataRank()), ranks(ranks.dataCount()) {
  for (int64_t first = 0; shapes && first < end; first += list.back().batch * this->ranks)
    list.push_back(chooseRound(*shapes, first, isWhole));
}

/// Chooses the smallest samples that hold the rows of a round of their batches.
ForwardBatches::Round ForwardBatches::chooseRound(const RowShapes &shapes, int64_t first,
                                                  bool isWhole) const {
  std::vector<int64_t> rows;
  for (size_t group = 0; group < shapes.groups(); ++group) {
    const int64_t most = isWhole ? batch : shapes.batchOfGroup(group),
                  count = std::min(most * ranks, end - first);
    rows.resize(static_cast<size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    if (!shapes.holds(group, shapes.groupHolding(rows)))
      continue;
    const bool isFull = isWhole || count == most * ranks;
    const std::optional<size_t> shape =
        shapes.smallest(group, isFull ? most : count, isFull ? 1 : ranks, /*isExact=*/isFull);
    if (shape)
      return {first, shapes.batchOf(*shape), *shape};
  }
  assert(false && "the largest shape holds all rows");
  return {first, batch, 0};
}

ForwardBatches::Round ForwardBatches::roundOf(int64_t number) const {
  return list.empty() ? Round{number / ranks * ranks * batch, batch, 0}
                      : list[static_cast<size_t>(number / ranks)];
}

int64_t ForwardBatches::count() const {
  if (list.empty())
    return roundedUpQuotient(end, batch);
  const auto full = static_cast<int64_t>(list.size()) - 1;
  return full * ranks + roundedUpQuotient(end - list.back().first, list.back().batch);
}

int64_t ForwardBatches::rounds() const { return roundedUpQuotient(count(), ranks); }

std::optional<int64_t> ForwardBatches::batchOf(int64_t round, int number) const {
  const int64_t batch = round * ranks + number;
  return batch < count() ? std::optional(batch) : std::nullopt;
}

int64_t ForwardBatches::computedIn(int64_t round) const {
  if (const std::optional<int64_t> batch = batchOf(round, own))
    return *batch;
  // A batch that this rank has checked before, or one that has the shape of the round.
  return round && list.empty() ? *batchOf(round - 1, own) : round * ranks;
}

int64_t ForwardBatches::firstOf(int64_t number) const {
  const Round round = roundOf(number);
  return round.first + number % ranks * round.batch;
}

int64_t ForwardBatches::samplesOf(int64_t number) const {
  return std::min(roundOf(number).batch, end - firstOf(number));
}

void ForwardBatches::samplesOf(int64_t number, Batch &result) const {
  const Round round = roundOf(number);
  const int64_t first = firstOf(number);
  result.filler = 0;
  result.position = -1;
  result.shape = round.shape;
  result.rows.clear();
  for (int64_t i = 0; i < round.batch; ++i)
    result.rows.push_back(std::min(first + i, end - 1));
}

} // namespace mtc::runtime
