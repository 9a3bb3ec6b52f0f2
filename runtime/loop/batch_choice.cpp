// Rows that several shapes hold are grouped by length unless their order has a meaning.
#include "runtime/loop/batch_choice.h"

#include "runtime/data/consecutive_batches.h"
#include "runtime/data/grouped_batches.h"
#include "runtime/support/failure.h"
#include "runtime/support/quotient.h"

#include <utility>

namespace mtc::runtime {

static BatchOrigin originOf(const Dataset &data, const TrainingState &state) {
  return originOf(state, data.rows(), [&](const EarlierSteps &steps) {
    return data.batchOf(steps.batch) * steps.microSteps;
  });
}

static int64_t microStepsOf(const Dataset &data) { return data.batchOfStep() / data.batch(); }

static GroupedBatches groupedOrder(const Dataset &data, const TrainingState &state) {
  const BatchOrigin origin = originOf(data, state);
  return {*data.shapesOfRows(),
          microStepsOf(data),
          state.lastBatch == LastBatch::Drop,
          state.shuffle,
          state.seed,
          origin.step,
          roundedUpQuotient(origin.position, data.rows())};
}

std::unique_ptr<const BatchOrder> orderOf(const Dataset &data, const TrainingState &state) {
  if (state.isGrouped)
    return std::make_unique<GroupedBatches>(groupedOrder(data, state));
  return std::make_unique<ConsecutiveBatches>(data.rows(), data.batchOfStep(), state.lastBatch,
                                              state.shuffle, state.seed, originOf(data, state),
                                              data.sampler(), data.shapesOfRows());
}

/// Returns whether a shape has space for the rows at the end of an epoch, without padding samples
/// unless the loss can ignore them.
static bool holdsRest(const Dataset &data) {
  const RowShapes *shapes = data.shapesOfRows();
  return shapes && shapes->holdsRest(data.rows() % data.batchOfStep(), microStepsOf(data));
}

static void chooseGrouping(const Options &options, bool isResumed, const Dataset &data,
                           TrainingState &state) {
  const RowShapes *shapes = data.shapesOfRows();
  const char *flag = state.isGrouped ? "length" : "none";
  if (isResumed && options.groupsRows && *options.groupsRows != state.isGrouped)
    userError("--resume ", options.resume, ": the checkpoint was made with --bucket-by ", flag);
  if (!isResumed)
    state.isGrouped = options.groupsRows.value_or(shapes && shapes->usedGroups() > 1 &&
                                                  state.shuffle && !data.sampler());
  if (!state.isGrouped)
    return;
  const std::string given = isResumed ? "--resume " + options.resume : "--bucket-by length";
  if (!shapes)
    userError(given, ": the rows of the data have one length, or the program has one shape; "
                     "compile with several sizes, such as --dim sequence=64,128");
  if (data.sampler())
    userError(given, ": rows that are drawn by weights are not grouped; use --bucket-by none");
}

void chooseBatches(const MtcProgram &program, const Options &options, bool isResumed,
                   const Dataset &data, TrainingState &state) {
  chooseGrouping(options, isResumed, data, state);
  const RowShapes *shapes = data.shapesOfRows();
  const bool hasOwnShape = shapes && shapes->hasSeveralBatches() && holdsRest(data);
  if (!isResumed && !options.lastBatch && (state.isGrouped || hasOwnShape))
    state.lastBatch = LastBatch::Mask;
  if (state.isGrouped && state.lastBatch == LastBatch::Wrap)
    userError("--last-batch wrap: batches of rows of similar length end with their epoch; use mask "
              "or drop, or --bucket-by none");
  if (!state.isGrouped && !(state.lastBatch == LastBatch::Mask && holdsRest(data)))
    checkLastBatch(state.lastBatch, program, data.rows(), data.batchOfStep());
  const int64_t samples = program.batch * program.accumulation.micro_steps;
  state.samplesPerStep =
      data.feeding() == Feeding::Rows && data.batchOfStep() != samples ? data.batchOfStep() : 0;
  const int64_t earlier = std::exchange(state.stepsPerEpoch, 0);
  if (!state.isGrouped)
    return;
  state.stepsPerEpoch = groupedOrder(data, state).stepsOfEpoch();
  if (state.stepsPerEpoch == 0)
    userError(
        "--last-batch drop: no shape has enough rows for a step; compile for a smaller batch");
  if (earlier && earlier != state.stepsPerEpoch)
    userError("--resume ", options.resume, ": ", describeOtherEpoch(earlier, state.stepsPerEpoch));
}

std::string describeUnevenUse(const MtcProgram &program, const Dataset &data,
                              const TrainingState &state, int64_t steps) {
  if (!state.isGrouped)
    return describeLastBatch(state.lastBatch, program, data.rows(), data.batchOfStep(), steps);
  const int64_t dropped = groupedOrder(data, state).droppedRows();
  return dropped ? text(dropped, " of ", data.rows(),
                        " samples, drawn anew for each epoch, fill no step and are skipped")
                 : "";
}

} // namespace mtc::runtime
