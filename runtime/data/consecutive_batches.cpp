// Batches across epochs.
#include "runtime/data/consecutive_batches.h"

#include <algorithm>

namespace mtc::runtime {

ConsecutiveBatches::ConsecutiveBatches(int64_t rows, int64_t batch, LastBatch last, bool shuffle,
                                       uint64_t seed, BatchOrigin origin,
                                       const WeightedSampler *sampler, const RowShapes *shapes)
    : rows(rows), batch(batch), last(last), origin(origin),
      stepsOfFirst(stepsWithin(rows - origin.position % rows)), stepsOfEpoch(stepsWithin(rows)),
      order(rows, shuffle && rows != batch, seed, sampler), shapes(shapes) {}

int64_t ConsecutiveBatches::stepsWithin(int64_t samples) const {
  return samples / batch + (last == LastBatch::Mask && samples % batch != 0);
}

ConsecutiveBatches::Samples ConsecutiveBatches::samplesOf(int64_t step) const {
  const int64_t done = step - 1 - origin.step;
  if (last == LastBatch::Wrap)
    return {origin.position + done * batch, batch};
  int64_t epoch = origin.position / rows, inEpoch = origin.position % rows + done * batch;
  if (done >= stepsOfFirst) {
    epoch += 1 + (done - stepsOfFirst) / stepsOfEpoch;
    inEpoch = (done - stepsOfFirst) % stepsOfEpoch * batch;
  }
  return {epoch * rows + inEpoch, std::min(batch, rows - inEpoch)};
}

void ConsecutiveBatches::batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const {
  const auto [first, count] = samplesOf(step);
  int64_t size = batch / parts;
  if (shapes) {
    // All micro-steps of a step, on any rank, have one shape.
    result.rows.clear();
    for (int64_t i = 0; i < count; ++i)
      result.rows.push_back(order.row(first + i));
    result.shape = shapes->choose(result.rows, parts);
    size = shapes->batchOf(result.shape);
  }
  const int64_t begin = part * size, end = begin + size;
  result.position = first + begin;
  result.rows.clear();
  for (int64_t i = begin; i < end; ++i)
    result.rows.push_back(order.row(first + std::min(i, count - 1)));
  result.filler = std::clamp<int64_t>(end - count, 0, size);
}

bool ConsecutiveBatches::endsEpoch(int64_t step) const {
  const int64_t done = step - origin.step;
  if (last != LastBatch::Wrap)
    return done >= stepsOfFirst && (done - stepsOfFirst) % stepsOfEpoch == 0;
  const int64_t end = origin.position + done * batch;
  return end / rows > (end - batch) / rows;
}

BatchOrigin ConsecutiveBatches::originAfter(int64_t step) const {
  const int64_t done = step - origin.step;
  // Data that has fewer samples than the batch cannot have been read by these steps.
  if (last == LastBatch::Wrap || stepsOfEpoch == 0)
    return {step, origin.position + done * batch};
  if (done < stepsOfFirst)
    return {step, origin.position + done * batch};
  const int64_t rest = done - stepsOfFirst;
  return {step,
          (origin.position / rows + 1 + rest / stepsOfEpoch) * rows + rest % stepsOfEpoch * batch};
}

std::optional<int64_t> ConsecutiveBatches::stepsOf(int64_t epochs) const {
  int64_t end = 0;
  if (__builtin_mul_overflow(epochs, rows, &end))
    return std::nullopt;
  const int64_t left = std::max<int64_t>(0, end - origin.position);
  if (last == LastBatch::Wrap)
    return origin.step + left / batch + (left % batch != 0);
  const int64_t more = epochs - origin.position / rows;
  return origin.step + (more > 0 ? stepsOfFirst + (more - 1) * stepsOfEpoch : 0);
}

} // namespace mtc::runtime
