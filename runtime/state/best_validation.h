// The best validation of a run.
#ifndef MTC_RUNTIME_STATE_BEST_VALIDATION_H
#define MTC_RUNTIME_STATE_BEST_VALIDATION_H

#include "runtime/state/validation_state.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// The metric that determines the best validation.
struct BestMetric {
  std::string name = "loss";
  bool isHigherBetter = false;
};

/// Keeps track of the best validation in the state of a run, and decides when a run without an
/// improvement ends.
class BestValidation {
public:
  /// If the state is that of a run with another metric, warns and forgets its best value.
  /// `patience` is the number of validations without an improvement after which the run ends; 0: it
  /// does not.
  BestValidation(ValidationState &history, BestMetric metric, int64_t patience);

  const std::string &metricName() const { return metric.name; }
  /// Records the value of the metric after step `step`. Returns whether it is the best one.
  bool record(int64_t step, double value);
  /// Returns whether the run ends.
  bool stopsEarly() const { return patience && history.sinceBest >= patience; }
  /// Returns the reason, as a sentence without its period: "no better validation loss in 3
  /// validations; the best, 0.5, is of step 20".
  std::string describeStop() const;
  /// Returns the best validation: "best validation loss 0.5 at step 20"; "" if there is none.
  std::string describe() const;

private:
  ValidationState &history;
  BestMetric metric;
  int64_t patience;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_BEST_VALIDATION_H
