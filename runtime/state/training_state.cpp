// Positions in the data and in training, across programs with different batches.
#include "runtime/state/training_state.h"

namespace mtc::runtime {

BatchOrder orderOf(const TrainingState &state, int64_t rows, int64_t batch,
                   const std::function<int64_t(const EarlierSteps &)> &samplesOf,
                   const WeightedSampler *sampler) {
  auto from = [&](int64_t samples, BatchOrigin origin) {
    return BatchOrder(rows, samples, state.lastBatch, state.shuffle, state.seed, origin, sampler);
  };
  BatchOrigin origin;
  for (const EarlierSteps &steps : state.earlier)
    origin = from(samplesOf(steps), origin).originAfter(steps.lastStep);
  return from(batch, origin);
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
