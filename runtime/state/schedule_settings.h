// A learning rate schedule that replaces the compiled one.
#ifndef MTC_RUNTIME_STATE_SCHEDULE_SETTINGS_H
#define MTC_RUNTIME_STATE_SCHEDULE_SETTINGS_H

#include "runtime/abi/schedule_options.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// The fields of MtcSchedule, with their storage.
struct ScheduleSettings {
  std::string kind; ///< name of an entry of `abi::schedules`
  double rate = 0, minRate = 0;
  int64_t warmup = 0, decay = 0;
  abi::SchedulePoints points;

  ScheduleSettings() = default;
  explicit ScheduleSettings(const MtcSchedule &schedule);

  /// Returns the schedule. Its pointers are valid as long as the object.
  MtcSchedule view() const;
  /// Returns the flags that produce the settings: "--schedule linear --lr 0.001 --warmup 10".
  std::string flags() const;

  bool operator==(const ScheduleSettings &) const = default;
};

/// Returns the decimal number with the fewest digits that is read back as `number`.
std::string spellNumber(double number);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_SCHEDULE_SETTINGS_H
