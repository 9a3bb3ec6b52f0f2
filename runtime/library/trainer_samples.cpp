// The samples of a trainer's batches, in the order of a program.
#include "runtime/data/consecutive_batches.h"
#include "runtime/data/grouped_batches.h"
#include "runtime/library/trainer.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"
#include "runtime/support/quotient.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace mtc::runtime {

/// Returns whether a shape has the size of the last batch of an epoch, so that it is not padded.
bool Trainer::holdsRest(int64_t count) const {
  return program.accumulation.micro_steps == 1 &&
         std::any_of(shapes.all().begin(), shapes.all().end(),
                     [&](const MtcProgram &each) { return each.batch == count % shaped->batch; });
}

BatchOrigin Trainer::originOfSamples(int64_t count) const {
  return originOf(state, count,
                  [](const EarlierSteps &steps) { return steps.batch * steps.microSteps; });
}

/// Returns the batch after the next `ahead` batches.
Batch Trainer::batchAfter(const BatchOrder &order, int64_t ahead) const {
  if (ahead < 0)
    userError("batches ahead ", ahead, ": expected 0 or more");
  const int64_t microSteps = program.accumulation.micro_steps, next = microStep + ahead;
  return order.batchOf(state.step + 1 + next / microSteps, next % microSteps, microSteps);
}

int64_t Trainer::chooseSamples(int64_t count, bool shuffle, std::optional<LastBatch> last,
                               int64_t ahead, int64_t *samples) {
  const int64_t microSteps = program.accumulation.micro_steps;
  if (count < 1)
    userError("samples ", count, ": expected at least 1");
  state.shuffle = shuffle;
  state.lastBatch = last.value_or(state.lastBatch);
  const int64_t perStep = shaped->batch * microSteps;
  if (!(state.lastBatch == LastBatch::Mask && holdsRest(count)))
    checkLastBatch(state.lastBatch, program, count, perStep);
  state.samplesPerStep = shaped->batch == program.batch ? 0 : perStep;
  if (state.isGrouped)
    beginGroups(/*updates=*/0);
  const ConsecutiveBatches order(count, perStep, state.lastBatch, shuffle, state.seed,
                                 originOfSamples(count));
  const Batch batch = batchAfter(order, ahead);
  std::copy(batch.rows.begin(), batch.rows.end(), samples);
  return shaped->batch - batch.filler;
}

/// Returns the lengths of samples in the caller's table, which has a row for each sample.
static InputLengths lengthsOf(const MtcProgram &program, const int64_t *table, int64_t count) {
  const int64_t width = program.input_count;
  InputLengths result(program.input_count);
  for (int64_t input = 0; input < width; ++input) {
    bool hasSequence = false;
    for (int64_t row = 0; row < count && !hasSequence; ++row)
      hasSequence = table[row * width + input] != 0;
    if (!hasSequence)
      continue;
    const MtcInput &bound = program.inputs[input];
    if (bound.is_whole || bound.tensor.rank < 2)
      userError("lengths of the input '", bound.tensor.name, "': it has no sequence; expected 0");
    result[static_cast<size_t>(input)] = {
        text("input '", bound.tensor.name, "'"),
        [table, width, input](int64_t first, std::span<int64_t> lengths) {
          for (size_t i = 0; i < lengths.size(); ++i)
            lengths[i] = table[(first + static_cast<int64_t>(i)) * width + input];
        }};
  }
  return result;
}

/// Begins a new epoch if the data of the earlier steps was divided in another way. A resumed run
/// has the data of its checkpoint.
void Trainer::beginGroups(int64_t updates) {
  if (std::exchange(isResumed, false) && state.stepsPerEpoch && state.stepsPerEpoch != updates)
    userError(describeOtherEpoch(state.stepsPerEpoch, updates));
  const int64_t known = state.earlier.empty() ? 0 : state.earlier.back().lastStep;
  if (state.step > known && state.stepsPerEpoch != updates)
    state.earlier.push_back({state.step, program.batch, program.accumulation.micro_steps,
                             state.samplesPerStep, state.stepsPerEpoch});
  state.isGrouped = updates > 0;
  state.stepsPerEpoch = updates;
}

int64_t Trainer::groupSamples(int64_t count, const int64_t *lengths, bool shuffle,
                              std::optional<LastBatch> last) {
  if (count < 1)
    userError("samples ", count, ": expected at least 1");
  if (last == LastBatch::Wrap)
    userError("batches of samples of similar lengths end with their epoch; expected mask or drop");
  std::vector<size_t> all(shapes.all().size());
  std::iota(all.begin(), all.end(), 0);
  Problems problems;
  groups.reset(); // It refers to the shapes.
  sampleShapes.emplace(shapes, all, lengthsOf(program, lengths, count), count, canMask(program),
                       problems);
  problems.throwIfAny();
  if (!sampleShapes->warning().empty())
    warn(sampleShapes->warning());
  const bool isGrouped = sampleShapes->usedGroups() > 1;
  const LastBatch how = last.value_or(LastBatch::Mask);
  const int64_t updates = isGrouped
                              ? GroupedBatches(*sampleShapes, program.accumulation.micro_steps,
                                               how == LastBatch::Drop, shuffle, state.seed)
                                    .stepsOfEpoch()
                              : 0;
  if (isGrouped && updates == 0)
    userError("no shape has enough samples for an update; pass more samples, or compile for a "
              "smaller batch");
  beginGroups(updates);
  if (!isGrouped)
    return 0;
  state.shuffle = shuffle;
  state.lastBatch = how;
  const BatchOrigin origin = originOfSamples(count);
  groups.emplace(*sampleShapes, program.accumulation.micro_steps, how == LastBatch::Drop, shuffle,
                 state.seed, origin.step, roundedUpQuotient(origin.position, count));
  return updates;
}

Trainer::GroupedChoice Trainer::chooseGroupedSamples(int64_t ahead, int64_t *samples) const {
  if (!groups || !state.isGrouped)
    userError("the samples are not grouped");
  const Batch batch = batchAfter(*groups, ahead);
  std::copy(batch.rows.begin(), batch.rows.end(), samples);
  return {std::ssize(batch.rows) - batch.filler, static_cast<uint32_t>(batch.shape)};
}

} // namespace mtc::runtime
