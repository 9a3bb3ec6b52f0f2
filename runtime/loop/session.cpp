// Scalars, batches and losses of a step.
#include "runtime/loop/session.h"

#include "runtime/support/element_type.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mtc::runtime {

template <typename Value> static void put(Device &device, int64_t offset, Value value) {
  if (offset >= 0)
    device.writeScalar(offset, &value, sizeof value);
}

void Session::setScalars(int64_t step, int64_t microStep, double learningRate,
                         uint64_t seed) const {
  const MtcScalars &scalars = program.scalars;
  put(device, scalars.learning_rate, learningRate);
  put(device, scalars.step, step);
  put(device, scalars.micro_step, microStep);
  put(device, scalars.seed, static_cast<int64_t>(seed));
}

BatchOrder orderOf(const Dataset &data, const TrainingState &state) {
  return {data.rows(), data.batchOfStep(), state.lastBatch, state.shuffle, state.seed};
}

void Session::loadBatch(const TrainingState &state, int64_t step, int64_t microStep,
                        int64_t last) const {
  const BatchOrder order = orderOf(data, state);
  const int64_t count = microSteps(), next = microStep + 1;
  auto &[batch, ahead] = batches.lists;
  ahead.rows.clear();
  if (program.staging && next < count)
    order.batchOf(step, next, count, ahead);
  else if (program.staging && step < last)
    order.batchOf(step + 1, 0, count, ahead);
  order.batchOf(step, microStep, count, batch);
  batches.load(data, batch, ahead);
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
  return withoutSignOfNan(value);
}

Session::StepRequest Session::requestStepLoss(int64_t offset) const {
  const MtcAccumulation &sums = program.accumulation;
  if (sums.micro_steps == 1)
    return {requestLoss(offset), -1};
  return {device.request(sums.loss_sum, sizeof(double)),
          sums.count < 0 ? -1 : device.request(sums.count, sizeof(double))};
}

StepLoss Session::stepLoss(const StepRequest &request) const {
  if (microSteps() == 1)
    return {loss(request.loss), 1};
  double sum = 0, count = 0;
  device.receive(request.loss, &sum);
  if (request.count < 0)
    return {withoutSignOfNan(sum), 1};
  device.receive(request.count, &count);
  const double targets = program.accumulation.targets;
  return {withoutSignOfNan(sum * targets / count), targets / std::max(count, 1.0)};
}

} // namespace mtc::runtime
