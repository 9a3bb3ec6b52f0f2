// Validation between the steps of training.
#ifndef MTC_RUNTIME_LOOP_VALIDATION_H
#define MTC_RUNTIME_LOOP_VALIDATION_H

#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/evaluation_sums.h"
#include "runtime/loop/session.h"
#include "runtime/reports/run_listener.h"
#include "runtime/state/best_validation.h"

#include <optional>
#include <set>
#include <string>

namespace mtc::runtime {

/// Evaluates the data of --validate, keeps track of the best validation in the training state, and
/// decides when --early-stop ends training. Validations change no other state: training is
/// bit-identical to training without them.
class Validation {
public:
  /// `session.validation` is not null. If the state is that of a run with another metric, warns and
  /// forgets its best value.
  Validation(const Session &session, TrainingState &state);

  /// Returns whether the current step has a validation according to --validate-every, which has not
  /// been run yet.
  bool isDue() const;
  /// Returns whether the current step has been validated.
  bool isDone() const { return state.validation.step == state.step; }

  /// Evaluates the data and updates the state in the same way on all ranks. Warns once of each
  /// problem of the data. Returns nullopt, with the state unchanged, if a signal arrives on any
  /// rank before the end.
  std::optional<ValidationMetrics> run();

  /// Returns the best validation so far; its `stopsEarly` decides about --early-stop.
  const BestValidation &getBest() const { return best; }

private:
  void warnOnce(const std::string &problem);

  const Session &session;
  TrainingState &state;
  BestValidation best;
  EvaluationSums sums;
  std::set<std::string> warnings;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_VALIDATION_H
