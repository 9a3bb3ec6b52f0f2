//===- ScheduleOptions.h - Options of the learning-rate schedule ------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H
#define MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"
#include "runtime/abi/schedule_options.h"

namespace mtc {

/// Returns all schedules (runtime/abi/schedule.h).
std::vector<OptionChoice> scheduleChoices();

/// The options with their checks are shared with programs, which can override them.
struct ScheduleOptions : abi::ScheduleOptions {
  /// Returns the maximum rate of the table, or nothing if there is no table.
  std::optional<double> getHighest() const;
  /// Creates the schedule attribute. The options must be valid; `rate` is the maximum learning rate
  /// if there is no table.
  ScheduleAttr make(mlir::MLIRContext *context, double rate) const;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H
