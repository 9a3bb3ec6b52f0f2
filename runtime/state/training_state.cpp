// Positions in the data and in training, across programs with different batches.
#include "runtime/state/training_state.h"

#include "runtime/data/consecutive_batches.h"
#include "runtime/support/messages.h"
#include "runtime/support/quotient.h"

namespace mtc::runtime {

BatchOrigin originOf(const TrainingState &state, int64_t rows,
                     const std::function<int64_t(const EarlierSteps &)> &samplesOf) {
  BatchOrigin origin;
  for (const EarlierSteps &steps : state.earlier)
    if (steps.stepsPerEpoch) {
      const int64_t begun = roundedUpQuotient(origin.position, rows),
                    epochs = roundedUpQuotient(steps.lastStep - origin.step, steps.stepsPerEpoch);
      origin = {steps.lastStep, (begun + epochs) * rows};
    } else {
      const int64_t samples = steps.samples ? steps.samples : samplesOf(steps);
      origin = ConsecutiveBatches(rows, samples, state.lastBatch, state.shuffle, state.seed, origin)
                   .originAfter(steps.lastStep);
    }
  return origin;
}

std::string describeOtherEpoch(int64_t stepsOfCheckpoint, int64_t steps) {
  const std::string now =
      steps ? text("had ", stepsOfCheckpoint, " steps, and has ", steps, " with this data")
            : "had batches of samples of similar lengths, and has none with this data";
  return "an epoch of the checkpoint's run " + now + "; give the data of the checkpoint's run";
}

int64_t trainedBatches(const MtcProgram &program, const TrainingState &state) {
  int64_t batches = 0, counted = 0;
  for (const EarlierSteps &steps : state.earlier) {
    batches += (steps.lastStep - counted) * steps.microSteps;
    counted = steps.lastStep;
  }
  return batches + (state.step - counted) * program.accumulation.micro_steps;
}

} // namespace mtc::runtime
