// Scalars, batches and losses of a step.
#include "runtime/loop/session.h"

#include "runtime/support/element_type.h"

#include <cmath>

namespace mtc::runtime {

template <typename Value> static void put(Device &device, int64_t offset, Value value) {
  if (offset >= 0)
    device.writeScalar(offset, &value, sizeof value);
}

void Session::setScalars(int64_t step, double learningRate, uint64_t seed) const {
  const MtcScalars &scalars = program.scalars;
  put(device, scalars.learning_rate, learningRate);
  put(device, scalars.step, step);
  put(device, scalars.micro_step, int64_t{0});
  put(device, scalars.seed, static_cast<int64_t>(seed));
}

BatchOrder orderOf(const Dataset &data, const TrainingState &state) {
  return {data.rows(), data.batch(), state.lastBatch, state.shuffle, state.seed};
}

void Session::loadBatch(const TrainingState &state, int64_t step, int64_t last) const {
  BatchOrder order = orderOf(data, state);
  bool ahead = program.staging && step < last;
  batches.load(order.batchOf(step), ahead ? order.batchOf(step + 1) : Batch());
}

int64_t Session::requestLoss(int64_t offset) const {
  return device.request(offset, typeBytes(program.loss_type));
}

double Session::loss(int64_t request) const {
  double value = 0;
  if (program.loss_type == MTC_F64) {
    device.receive(request, &value);
  } else {
    float single = 0;
    device.receive(request, &single);
    value = static_cast<double>(single);
  }
  return std::isnan(value) ? std::fabs(value) : value; // The sign of a NaN says nothing.
}

} // namespace mtc::runtime
