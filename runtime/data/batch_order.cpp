// Batches across epochs.
#include "runtime/data/batch_order.h"

#include <algorithm>

namespace mtc::runtime {

BatchOrder::BatchOrder(int64_t rows, int64_t batch, LastBatch last, bool shuffle, uint64_t seed)
    : rows(rows), batch(batch), last(last),
      stepsOfEpoch(rows / batch + (last == LastBatch::Mask && rows % batch != 0)),
      order(rows, shuffle && rows != batch, seed) {}

Batch BatchOrder::batchOf(int64_t step, int64_t part, int64_t parts) const {
  Batch result;
  batchOf(step, part, parts, result);
  return result;
}

void BatchOrder::batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const {
  int64_t first = (step - 1) * batch, count = batch;
  if (last != LastBatch::Wrap) {
    const int64_t inEpoch = (step - 1) % stepsOfEpoch * batch;
    first = (step - 1) / stepsOfEpoch * rows + inEpoch;
    count = std::min(batch, rows - inEpoch);
  }
  const int64_t size = batch / parts, begin = part * size, end = begin + size;
  result.rows.clear();
  for (int64_t i = begin; i < end; ++i)
    result.rows.push_back(order.row(first + std::min(i, count - 1)));
  result.filler = std::clamp<int64_t>(end - count, 0, size);
}

bool BatchOrder::endsEpoch(int64_t step) const {
  if (last != LastBatch::Wrap)
    return step % stepsOfEpoch == 0;
  return step * batch / rows > (step - 1) * batch / rows;
}

std::optional<int64_t> BatchOrder::stepsOf(int64_t epochs) const {
  int64_t taken = 0;
  if (__builtin_mul_overflow(epochs, rows, &taken))
    return std::nullopt;
  return last == LastBatch::Wrap ? taken / batch + (taken % batch != 0) : epochs * stepsOfEpoch;
}

} // namespace mtc::runtime
