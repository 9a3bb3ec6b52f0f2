// The micro-steps of a training step.
#ifndef MTC_RUNTIME_LOOP_MICROSTEPS_H
#define MTC_RUNTIME_LOOP_MICROSTEPS_H

#include "runtime/loop/session.h"

#include <chrono>
#include <cstdint>
#include <exception>

namespace mtc::runtime {

/// Runs the micro-steps of one step of training: one after the other, or, in a program with
/// pipeline stages, in the order of its tasks.
class MicroSteps {
public:
  /// `last` is the last step of the run, beyond which no batch is prefetched.
  MicroSteps(const Session &session, int64_t step, double learningRate, uint64_t seed, int64_t last)
      : session(session), step(step), learningRate(learningRate), seed(seed), last(last) {}

  /// Runs all micro-steps. Returns false if they ended early: a signal arrived while most of them
  /// remained, or a batch cannot be read (`problem`). With several ranks, throws the error of a
  /// batch instead, because the other ranks wait for this one.
  bool run();
  /// Returns the number of micro-steps, or of their parts, that have run.
  int64_t done() const { return count; }
  /// Returns the error of a batch; null if there was none.
  const std::exception_ptr &problem() const { return unreadable; }
  /// Requests the loss of the step after the micro-steps, or after the update if it gathers the
  /// loss.
  StepLossRequest requestLoss() const {
    return session.scalars().requestStepLoss(shaped->micro_step_loss);
  }

private:
  using Clock = std::chrono::steady_clock;

  bool runTasks();
  bool load(int64_t microStep, const BatchPosition &next);
  void writeScalars(int64_t microStep) const {
    session.scalars().set(step, session.numberOf(microStep), learningRate, seed);
  }
  bool stopsBefore(int64_t remaining) const;

  const Session &session;
  const int64_t step;
  const double learningRate;
  const uint64_t seed;
  const int64_t last;
  const Clock::time_point begin = Clock::now();
  const MtcProgram *shaped = &session.program; ///< tables of the last batch's shape
  int64_t count = 0;
  std::exception_ptr unreadable;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_MICROSTEPS_H
