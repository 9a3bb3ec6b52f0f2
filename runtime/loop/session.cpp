// Batches of a step.
#include "runtime/loop/session.h"

namespace mtc::runtime {

BatchOrder orderOf(const Dataset &data, const TrainingState &state) {
  return orderOf(
      state, data.rows(), data.batchOfStep(),
      [&](const EarlierSteps &steps) { return data.samplesOf(steps.batch, steps.microSteps); },
      data.sampler());
}

const MtcProgram &Session::loadBatch(const TrainingState &state, int64_t step, int64_t microStep,
                                     int64_t last) const {
  const BatchOrder order = orderOf(data, state);
  const int64_t count = program.accumulation.micro_steps, next = microStep + 1;
  auto &[batch, ahead] = batches.lists;
  ahead.rows.clear();
  if (program.staging && next < microSteps())
    order.batchOf(step, numberOf(next), count, ahead);
  else if (program.staging && step < last)
    order.batchOf(step + 1, numberOf(0), count, ahead);
  order.batchOf(step, numberOf(microStep), count, batch);
  batches.load(data, batch, ahead);
  return data.programOf(batch);
}

} // namespace mtc::runtime
