// Operation times of the fastest step of a run.
#ifndef MTC_RUNTIME_REPORTS_PROFILE_H
#define MTC_RUNTIME_REPORTS_PROFILE_H

#include "runtime/devices/observer.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// Keeps the times of the fastest step as a whole, not the minimum of each operation, so that the
/// times add up and disturbances of other steps are excluded. Validations are not steps.
class Profile final : public Observer {
public:
  struct Times {
    const OperationInfo *operation = nullptr; ///< null: the operation did not run
    double seconds = 0;
    int64_t runs = 0; ///< one per micro-step
  };
  struct Step {
    std::vector<Times> operations; ///< by operation number
    /// Times of the whole step (load, operations, waits, gaps), of its loads, and of its waits for
    /// messages of other pipeline stages.
    double seconds = 0, loadSeconds = 0, waitSeconds = 0;
  };

  void operation(const OperationInfo &operation, Clock::time_point begin,
                 Clock::time_point end) override;
  void phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) override;
  /// Completes the profile; called after the last step.
  void finish();

  const Step &fastest() const { return best; }
  int64_t steps() const { return stepCount; }
  double meanSeconds() const { return stepCount ? sum / static_cast<double>(stepCount) : 0; }

private:
  Step current, best;
  std::vector<size_t> recent; ///< numbers of the operations since the last phase
  int64_t currentNumber = 0;
  int64_t stepCount = 0;
  double sum = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROFILE_H
