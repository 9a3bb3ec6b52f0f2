// The order of samples across epochs.
#ifndef MTC_RUNTIME_DATA_ROW_ORDER_H
#define MTC_RUNTIME_DATA_ROW_ORDER_H

#include <cstdint>

namespace mtc::runtime {

class WeightedSampler;

/// A sequence of sample indices, epoch after epoch. With shuffling, the order of an epoch is a pure
/// function of (seed, epoch).
class RowOrder {
public:
  /// If `sampler` is not null, samples are drawn by it, and `shuffle` has no effect.
  RowOrder(int64_t rows, bool shuffle, uint64_t seed, const WeightedSampler *sampler = nullptr);

  /// Returns the sample at a position, which counts from 0 across all epochs.
  int64_t row(int64_t position) const;

private:
  int64_t permuted(int64_t index, uint64_t epoch) const;

  int64_t rows;
  bool shuffle;
  uint64_t seed;
  const WeightedSampler *sampler;
  int halfBits; ///< the permuted domain has 2^(2 * halfBits) >= rows numbers
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_ROW_ORDER_H
