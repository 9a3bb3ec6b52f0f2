// Flags that replace parts of the learning rate schedule.
#ifndef MTC_RUNTIME_LOOP_SCHEDULE_OVERRIDE_H
#define MTC_RUNTIME_LOOP_SCHEDULE_OVERRIDE_H

#include "runtime/abi/program.h"
#include "runtime/state/schedule_settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The given schedule flags of a run.
struct ScheduleFlags {
  std::optional<std::string> kind;
  std::optional<double> rate, minRate;
  std::optional<int64_t> warmup, decay;
  std::vector<std::string> points; ///< entries "STEP:RATE" of --schedule-table
  std::string table;               ///< the value of --schedule-table

  bool any() const { return kind || rate || minRate || warmup || decay || !table.empty(); }
  /// Returns the flags as the user would write them: "--lr 0.001 --warmup 10".
  std::string spelling() const;
};

/// Returns the entries of a value of --schedule-table: a list, or the name of a file. Throws a user
/// error if the text is neither a list nor the name of a file.
std::vector<std::string> readScheduleTable(const std::string &text);

/// Returns the schedule `base` with the given flags in place of its fields. Fields that the
/// schedule of --schedule does not have are dropped, and a minimum rate that is the default of its
/// schedule follows the peak rate. The result is the schedule of a program that is compiled with
/// all of these flags. Throws a user error with all problems.
ScheduleSettings overrideSchedule(const ScheduleSettings &base, const ScheduleFlags &flags);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SCHEDULE_OVERRIDE_H
