// In which order the rows of the data are taken.
#ifndef MTC_RUNTIME_DATA_ROW_ORDER_H
#define MTC_RUNTIME_DATA_ROW_ORDER_H

#include <cstdint>

namespace mtc::runtime {

/// The rows one after the other, epoch after epoch. Shuffled, the order of an epoch is a pure
/// function of (seed, epoch).
class RowOrder {
public:
  RowOrder(int64_t rows, bool shuffle, uint64_t seed);

  /// The row at a position, which counts from 0 over all epochs.
  int64_t row(int64_t position) const;

private:
  int64_t permuted(int64_t index, uint64_t epoch) const;

  int64_t rows;
  bool shuffle;
  uint64_t seed;
  int halfBits; ///< the permuted domain has 2^(2·halfBits) >= rows numbers
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_ROW_ORDER_H
