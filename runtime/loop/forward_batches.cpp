// The numbers of batches and samples.
#include "runtime/loop/forward_batches.h"

#include <algorithm>

namespace mtc::runtime {

ForwardBatches::ForwardBatches(int64_t batch, int64_t end, const Ranks &ranks)
    : batch(batch), end(end), rank(ranks.rank()), ranks(ranks.count()) {}

static int64_t roundedUpQuotient(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0);
}

int64_t ForwardBatches::count() const { return roundedUpQuotient(end, batch); }

int64_t ForwardBatches::rounds() const { return roundedUpQuotient(count(), ranks); }

std::optional<int64_t> ForwardBatches::batchOf(int64_t round, int rank) const {
  const int64_t number = round * ranks + rank;
  return number < count() ? std::optional(number) : std::nullopt;
}

int64_t ForwardBatches::computedIn(int64_t round) const {
  if (const std::optional<int64_t> own = batchOf(round, rank))
    return *own;
  // A batch that this rank has checked before, if there is one.
  return round ? *batchOf(round - 1, rank) : 0;
}

int64_t ForwardBatches::samplesOf(int64_t number) const {
  return std::min(batch, end - number * batch);
}

void ForwardBatches::samplesOf(int64_t number, Batch &result) const {
  result.filler = 0;
  result.position = -1;
  result.rows.clear();
  for (int64_t i = 0; i < batch; ++i)
    result.rows.push_back(std::min(number * batch + i, end - 1));
}

} // namespace mtc::runtime
