// Observers of a run, which are notified of every completed operation and phase.
#ifndef MTC_RUNTIME_DEVICES_OBSERVER_H
#define MTC_RUNTIME_DEVICES_OBSERVER_H

#include "runtime/devices/operation_info.h"

#include <chrono>
#include <cstdint>

namespace mtc::runtime {

/// Phases of a step. Each micro-step begins with a load; a step may have several. A rank of a
/// program with pipeline stages also waits for messages of other stages. A forward run consists of
/// loads and evaluations. A validation is a forward run between two steps.
enum class Phase { Load, MicroStep, Wait, Update, Evaluate, LoadValidation, Validate, Save };

class Observer {
public:
  using Clock = std::chrono::steady_clock;

  virtual ~Observer() = default;
  virtual void operation(const OperationInfo &operation, Clock::time_point begin,
                         Clock::time_point end) = 0;
  /// Returns whether `operation` reads the arena, so that the next operation must wait for it.
  virtual bool looksAtArena() const { return false; }
  /// `step` counts from 1.
  virtual void phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_OBSERVER_H
