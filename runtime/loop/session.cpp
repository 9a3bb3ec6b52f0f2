// Batches of a step.
#include "runtime/loop/session.h"

namespace mtc::runtime {

const MtcProgram &Session::loadBatch(int64_t step, int64_t microStep, int64_t last) const {
  const int64_t count = program.accumulation.micro_steps, next = microStep + 1;
  auto &[batch, ahead] = batches.lists;
  ahead.rows.clear();
  if (program.staging && next < microSteps())
    order->batchOf(step, numberOf(next), count, ahead);
  else if (program.staging && step < last)
    order->batchOf(step + 1, numberOf(0), count, ahead);
  order->batchOf(step, numberOf(microStep), count, batch);
  batches.load(data, batch, ahead);
  return data.tablesOf(batch);
}

} // namespace mtc::runtime
