// Division of a data set among ranks for forward passes.
#ifndef MTC_RUNTIME_LOOP_FORWARD_BATCHES_H
#define MTC_RUNTIME_LOOP_FORWARD_BATCHES_H

#include "runtime/collectives/ranks.h"
#include "runtime/data/batch_order.h"
#include "runtime/data/row_shapes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// Batches of consecutive samples, which are assigned in turn to the N ranks with samples of their
/// own (Ranks::dataCount): batch b (from 0) belongs to number b mod N. In each round, every rank
/// computes a batch of the same shape, because a function with divided parameters needs all ranks.
/// A rank without a batch in the last round repeats an earlier one, whose result is not used.
class ForwardBatches {
public:
  /// Divides the samples before `end` into batches of `batch` samples; the last one may be
  /// incomplete. If `shapes` is not null, the batches of a round have the smallest shape whose
  /// batches hold the samples that come next. Batches whose results are not known for each sample
  /// (`isWhole`) have `batch` samples nevertheless.
  ForwardBatches(int64_t batch, int64_t end, const Ranks &ranks, const RowShapes *shapes = nullptr,
                 bool isWhole = false);

  /// Returns the number of batches.
  int64_t count() const;
  int64_t rounds() const;
  /// Returns the batch of a number in a round (from 0); nullopt if none is left.
  std::optional<int64_t> batchOf(int64_t round, int number) const;
  /// Returns the batch that this rank computes in a round.
  int64_t computedIn(int64_t round) const;
  /// Returns the first sample of a batch, and the number of its samples without padding.
  int64_t firstOf(int64_t number) const;
  int64_t samplesOf(int64_t number) const;
  /// Stores the samples of a batch in `result`, whose memory is reused. An incomplete batch is
  /// padded with its last sample.
  void samplesOf(int64_t number, Batch &result) const;

private:
  /// The batches of a round, if there are several shapes.
  struct Round {
    int64_t first, batch;
    size_t shape;
  };

  Round chooseRound(const RowShapes &shapes, int64_t first, bool isWhole) const;
  /// Returns the round of a batch.
  Round roundOf(int64_t number) const;

  int64_t batch, end;
  int own, ranks;          ///< this rank's number, and that of numbers
  std::vector<Round> list; ///< empty if there is one shape
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_FORWARD_BATCHES_H
