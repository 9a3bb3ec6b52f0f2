// The order of samples in batches.
#ifndef MTC_RUNTIME_DATA_BATCH_ORDER_H
#define MTC_RUNTIME_DATA_BATCH_ORDER_H

#include "runtime/data/last_batch.h"
#include "runtime/data/row_order.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// The samples of a batch.
struct Batch {
  std::vector<int64_t> rows;
  int64_t filler = 0; ///< number of padding samples at the end, whose labels are ignored
  /// Position of the first sample in the order of training, which determines its augmentation; -1:
  /// the samples are evaluated.
  int64_t position = -1;

  bool empty() const { return rows.empty(); }
  bool operator==(const Batch &) const = default;
};

/// The sample after the last one of a step: a position that counts from 0 across all epochs.
struct BatchOrigin {
  int64_t step = 0, position = 0;
};

/// Assigns samples to steps as a pure function of the step. Data of a single batch keeps the order
/// of its file even if it is shuffled, because models whose samples depend on each other rely on
/// the file's order.
class BatchOrder {
public:
  /// Steps after that of `origin` have batches of `batch` samples, from its position on. `sampler`
  /// may be null.
  BatchOrder(int64_t rows, int64_t batch, LastBatch last, bool shuffle, uint64_t seed,
             BatchOrigin origin = {}, const WeightedSampler *sampler = nullptr);

  /// Returns the samples of a step (from 1), or of one of its `parts` micro-steps of equal size
  /// (from 0).
  Batch batchOf(int64_t step, int64_t part = 0, int64_t parts = 1) const;
  /// Stores the samples in `result`, whose memory is reused.
  void batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const;
  /// Returns the number of steps in `epochs` epochs; nullopt if the number of samples overflows 64
  /// bits.
  std::optional<int64_t> stepsOf(int64_t epochs) const;
  /// Returns whether step `step` is the last of some number of epochs.
  bool endsEpoch(int64_t step) const;
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
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_BATCH_ORDER_H
