// What may watch a run: every operation and every phase is told as soon as it is over.
#ifndef MTC_RUNTIME_DEVICES_OBSERVER_H
#define MTC_RUNTIME_DEVICES_OBSERVER_H

#include "runtime/devices/operation_info.h"

#include <chrono>
#include <cstdint>

namespace mtc::runtime {

/// Parts of a step. Each micro-step, of which a step may have several, begins with a load; a
/// forward run consists of loads and evaluations.
enum class Phase { Load, MicroStep, Update, Evaluate, Save };

class Observer {
public:
  using Clock = std::chrono::steady_clock;

  virtual ~Observer() = default;
  virtual void operation(const OperationInfo &operation, Clock::time_point begin,
                         Clock::time_point end) = 0;
  /// Whether it looks at the arena when it is told of an operation, so that the next must wait.
  virtual bool looksAtArena() const { return false; }
  /// `step` counts from 1.
  virtual void phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_OBSERVER_H
