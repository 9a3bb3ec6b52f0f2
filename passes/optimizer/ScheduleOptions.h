//===- ScheduleOptions.h - Options of the learning-rate schedule ------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H
#define MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

namespace mtc {

/// Returns all schedules (runtime/abi/schedule.h).
std::vector<OptionChoice> scheduleChoices();

struct ScheduleOptions {
  std::string kind = "constant";
  std::optional<double> least;
  int64_t warmup = 0, decay = 0;   ///< 0 if not given
  std::vector<std::string> points; ///< entries of the form "STEP:RATE"

  /// Returns the maximum rate of the table, or nothing if there is no table.
  std::optional<double> getHighest() const;
  /// Creates the schedule attribute. The options must be valid; `rate` is the maximum learning rate
  /// if there is no table.
  ScheduleAttr make(mlir::MLIRContext *context, double rate) const;

  // Return an error message for each option; "" if it is valid.
  std::string checkKind() const;
  std::string checkLeast(double rate) const;
  std::string checkWarmup() const;
  std::string checkDecay() const;
  std::string checkPoints() const;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H
