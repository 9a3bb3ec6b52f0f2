// The order of samples in batches.
#ifndef MTC_RUNTIME_DATA_BATCH_ORDER_H
#define MTC_RUNTIME_DATA_BATCH_ORDER_H

#include <cstddef>
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
  size_t shape = 0; ///< index in Shapes::all()

  bool empty() const { return rows.empty(); }
  bool operator==(const Batch &) const = default;
};

/// The sample after the last one of a step: a position that counts from 0 across all epochs.
struct BatchOrigin {
  int64_t step = 0, position = 0;
};

/// Assigns samples to steps as a pure function of the step.
class BatchOrder {
public:
  virtual ~BatchOrder() = default;

  /// Stores the samples of one of the `parts` micro-steps of equal size (from 0) of a step (from 1)
  /// in `result`, whose memory is reused.
  virtual void batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const = 0;
  /// Returns the number of steps in `epochs` epochs; nullopt if the number of samples overflows 64
  /// bits.
  virtual std::optional<int64_t> stepsOf(int64_t epochs) const = 0;
  /// Returns whether step `step` is the last of some number of epochs.
  virtual bool endsEpoch(int64_t step) const = 0;

  /// Returns the samples of a step, or of one of its micro-steps.
  Batch batchOf(int64_t step, int64_t part = 0, int64_t parts = 1) const {
    Batch result;
    batchOf(step, part, parts, result);
    return result;
  }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_BATCH_ORDER_H
