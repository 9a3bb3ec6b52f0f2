// Scalars that steps read and losses that they compute.
#ifndef MTC_RUNTIME_LOOP_STEP_SCALARS_H
#define MTC_RUNTIME_LOOP_STEP_SCALARS_H

#include "runtime/devices/device.h"

#include <cmath>
#include <cstdint>

namespace mtc::runtime {

/// Removes the sign of a NaN, which carries no information, for messages.
inline double withoutSignOfNan(double value) {
  return std::isnan(value) ? std::fabs(value) : value;
}

/// The loss of a step; its gradients remain to be multiplied by `gradientFactor`.
struct StepLoss {
  double value, gradientFactor;
};

/// Requests for the loss of a step. See Device::request.
struct StepLossRequest {
  int64_t loss, count; ///< `count` is -1 if all targets are valid
};

/// Access to the scalars of a program on a device.
struct StepScalars {
  const MtcProgram &program;
  Device &device;

  /// Writes the scalars that a micro-step reads: number `microStep` (from 0) among those of all
  /// ranks in step `step` (from 1).
  void set(int64_t step, int64_t microStep, double learningRate, uint64_t seed) const;
  /// Requests the loss at an offset, as of the work queued so far, and returns a request number for
  /// `loss`, which waits for the value.
  int64_t requestLoss(int64_t offset) const;
  double loss(int64_t request) const;
  /// Requests the loss of a step: after its update if the update writes the sum of losses
  /// (MtcAccumulation::step_loss_sum), otherwise after its micro-steps and before the update. For a
  /// single micro-step, the loss is at `offset`.
  StepLossRequest requestStepLoss(int64_t offset) const;
  StepLoss stepLoss(const StepLossRequest &request) const;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_STEP_SCALARS_H
