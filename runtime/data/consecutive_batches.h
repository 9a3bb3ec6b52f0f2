// Batches of consecutive samples of the order of each epoch.
#ifndef MTC_RUNTIME_DATA_CONSECUTIVE_BATCHES_H
#define MTC_RUNTIME_DATA_CONSECUTIVE_BATCHES_H

#include "runtime/data/batch_order.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/row_order.h"
#include "runtime/data/row_shapes.h"

namespace mtc::runtime {

/// Data of a single batch keeps the order of its file even if it is shuffled, because models whose
/// samples depend on each other rely on the file's order.
class ConsecutiveBatches : public BatchOrder {
public:
  /// Steps after that of `origin` have `batch` samples, from its position on. Each step has the
  /// smallest of `shapes` that holds its samples. `sampler` and `shapes` may be null.
  ConsecutiveBatches(int64_t rows, int64_t batch, LastBatch last, bool shuffle, uint64_t seed,
                     BatchOrigin origin = {}, const WeightedSampler *sampler = nullptr,
                     const RowShapes *shapes = nullptr);

  using BatchOrder::batchOf;
  void batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const override;
  std::optional<int64_t> stepsOf(int64_t epochs) const override;
  bool endsEpoch(int64_t step) const override;
  /// Returns the position after a step.
  BatchOrigin originAfter(int64_t step) const;

private:
  struct Samples {
    int64_t first, count;
  };
  /// Returns the samples of a step, before they are padded.
  Samples samplesOf(int64_t step) const;
  /// Returns the number of steps that read `samples` samples to the end of an epoch.
  int64_t stepsWithin(int64_t samples) const;

  int64_t rows, batch;
  LastBatch last;
  BatchOrigin origin;
  /// The number of steps to the end of the origin's epoch, and the number of steps of each later
  /// epoch. They are unused if batches wrap.
  int64_t stepsOfFirst, stepsOfEpoch;
  RowOrder order;
  const RowShapes *shapes;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_CONSECUTIVE_BATCHES_H
