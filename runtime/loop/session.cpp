// Batches of a step.
#include "runtime/loop/session.h"

namespace mtc::runtime {

const MtcProgram &Session::loadBatch(const BatchPosition &position,
                                     const BatchPosition &next) const {
  const int64_t count = program.accumulation.micro_steps;
  auto &[batch, ahead] = batches.lists;
  ahead.rows.clear();
  if (program.staging && next.step)
    order->batchOf(next.step, numberOf(next.microStep), count, ahead);
  order->batchOf(position.step, numberOf(position.microStep), count, batch);
  batches.load(data, batch, ahead);
  return data.tablesOf(batch);
}

} // namespace mtc::runtime
