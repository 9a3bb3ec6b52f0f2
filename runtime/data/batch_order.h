// Which rows each step takes.
#ifndef MTC_RUNTIME_DATA_BATCH_ORDER_H
#define MTC_RUNTIME_DATA_BATCH_ORDER_H

#include "runtime/data/last_batch.h"
#include "runtime/data/row_order.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// Rows of the data that become a batch.
struct Batch {
  std::vector<int64_t> rows;
  int64_t filler = 0; ///< the last rows, whose labels are ignored

  bool empty() const { return rows.empty(); }
  bool operator==(const Batch &) const = default;
};

/// A pure function of the step. Data that is one batch stays in the order of its file, whether it
/// is shuffled or not: that batch is all that there is to shuffle, and a model whose rows depend on
/// each other reads it as it was written.
class BatchOrder {
public:
  BatchOrder(int64_t rows, int64_t batch, LastBatch last, bool shuffle, uint64_t seed);

  /// The rows of a step, which counts from 1; of one of its parts of equal size, which count from
  /// 0.
  Batch batchOf(int64_t step, int64_t part = 0, int64_t parts = 1) const;
  /// The same, in a batch that keeps its memory.
  void batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const;
  /// Steps of so many epochs; nothing where 64 bits cannot count the rows.
  std::optional<int64_t> stepsOf(int64_t epochs) const;

private:
  int64_t rows, batch;
  LastBatch last;
  int64_t stepsOfEpoch; ///< unless batches wrap
  RowOrder order;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_BATCH_ORDER_H
