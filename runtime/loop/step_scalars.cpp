// Losses are sums over micro-steps if there are several.
#include "runtime/loop/step_scalars.h"

#include "runtime/support/element_type.h"

#include <algorithm>

namespace mtc::runtime {

template <typename Value> static void put(Device &device, int64_t offset, Value value) {
  if (offset >= 0)
    device.writeScalar(offset, &value, sizeof value);
}

void StepScalars::set(int64_t step, int64_t microStep, double learningRate, uint64_t seed) const {
  const MtcScalars &scalars = program.scalars;
  put(device, scalars.learning_rate, learningRate);
  put(device, scalars.step, step);
  put(device, scalars.micro_step, microStep);
  put(device, scalars.seed, static_cast<int64_t>(seed));
}

int64_t StepScalars::requestLoss(int64_t offset) const {
  return device.request(offset, typeBytes(program.loss_type));
}

double StepScalars::loss(int64_t request) const {
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

StepLossRequest StepScalars::requestStepLoss(int64_t offset) const {
  const MtcAccumulation &sums = program.accumulation;
  if (sums.micro_steps == 1)
    return {requestLoss(offset), -1};
  const bool isOfUpdate = sums.step_loss_sum >= 0;
  const int64_t count = isOfUpdate ? sums.step_count : sums.count;
  return {device.request(isOfUpdate ? sums.step_loss_sum : sums.loss_sum, sizeof(double)),
          count < 0 ? -1 : device.request(count, sizeof(double))};
}

StepLoss StepScalars::stepLoss(const StepLossRequest &request) const {
  if (program.accumulation.micro_steps == 1)
    return {loss(request.loss), 1};
  double sum = 0, count = 0;
  device.receive(request.loss, &sum);
  if (request.count < 0)
    return {withoutSignOfNan(sum), 1};
  device.receive(request.count, &count);
  const double targets = program.accumulation.targets;
  return {withoutSignOfNan(sum * targets / count), targets / (count > 0 ? count : 1)};
}

} // namespace mtc::runtime
