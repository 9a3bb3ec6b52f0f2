// Batches of rows of similar lengths.
#ifndef MTC_RUNTIME_DATA_GROUPED_BATCHES_H
#define MTC_RUNTIME_DATA_GROUPED_BATCHES_H

#include "runtime/data/batch_order.h"
#include "runtime/data/row_order.h"
#include "runtime/data/row_shapes.h"

#include <vector>

namespace mtc::runtime {

/// The rows of each group of shapes form the batches of the group. Rows that do not fill a step
/// move to the next group that holds them; those of the last one form a step of their own if a
/// shape holds them, and are left out otherwise. With shuffling, the rows of a group and the steps
/// of an epoch have a pseudorandom order, which is a pure function of (seed, epoch).
class GroupedBatches : public BatchOrder {
public:
  /// Steps have `parts` batches of a shape. `dropsRest` leaves out rows that do not fill a step.
  /// `firstEpoch` (from 0) begins after step `firstStep`.
  GroupedBatches(const RowShapes &shapes, int64_t parts, bool dropsRest, bool shuffle,
                 uint64_t seed, int64_t firstStep = 0, int64_t firstEpoch = 0);

  int64_t stepsOfEpoch() const { return epochSteps; }
  /// Returns the rows of an epoch that are left out.
  int64_t droppedRows() const { return dropped; }

  using BatchOrder::batchOf;
  void batchOf(int64_t step, int64_t part, int64_t parts, Batch &result) const override;
  std::optional<int64_t> stepsOf(int64_t epochs) const override;
  bool endsEpoch(int64_t step) const override;

private:
  /// Rows that a group leaves to another one.
  struct Moved {
    size_t from;
    int64_t count;
  };
  struct Group {
    std::vector<Moved> received;
    int64_t rows = 0;    ///< own and received ones
    int64_t perStep = 1; ///< rows of a full step
    int64_t fullSteps = 0;
    size_t shape = 0;                ///< of full steps
    std::optional<size_t> restShape; ///< of the step of the other rows; nullopt if there is none
    int64_t firstStep = 0;           ///< of an epoch, if steps were ordered by group
    std::optional<RowOrder> order;   ///< of the rows

    int64_t steps() const { return fullSteps + restShape.has_value(); }
    int64_t rest() const { return rows % perStep; }
  };

  void divide(bool dropsRest);
  /// Returns row `index` of a group's sequence in an epoch.
  int64_t rowOf(size_t group, int64_t index, int64_t epoch) const;

  const RowShapes &shapes;
  int64_t parts;
  std::vector<Group> groups;
  int64_t epochSteps = 0, dropped = 0, mostRows = 1;
  int64_t firstStep, firstEpoch;
  std::optional<RowOrder> order; ///< of the steps of an epoch; nullopt if it has none
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_GROUPED_BATCHES_H
