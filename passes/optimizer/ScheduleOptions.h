//===- ScheduleOptions.h - What mtc-optimizer is told of the learning rate's schedule ---------===//

#ifndef MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H
#define MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

namespace mtc {

/// All schedules (runtime/abi/schedule.h).
std::vector<OptionChoice> scheduleChoices();

struct ScheduleOptions {
  std::string kind = "constant";
  std::optional<double> least;
  int64_t warmup = 0, decay = 0;   ///< 0: left open
  std::vector<std::string> points; ///< "STEP:RATE"

  /// The highest rate of a table; none where there is none.
  std::optional<double> getHighest() const;
  /// The options are valid; `rate` is the highest where there is no table.
  ScheduleAttr make(mlir::MLIRContext *context, double rate) const;

  // What is wrong with each option; "" if nothing is.
  std::string checkKind() const;
  std::string checkLeast(double rate) const;
  std::string checkWarmup() const;
  std::string checkDecay() const;
  std::string checkPoints() const;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_SCHEDULEOPTIONS_H
