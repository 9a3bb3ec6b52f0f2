// Numbers, times and ranges of steps as text of a run's report.
#ifndef MTC_RUNTIME_REPORTS_REPORT_TEXT_H
#define MTC_RUNTIME_REPORTS_REPORT_TEXT_H

#include "runtime/reports/step_history.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Formats one number with a printf format.
std::string formatNumber(const char *format, double value);

/// Returns a number with five digits; an en dash for one that is not finite.
std::string numberText(double value);

/// Returns a number with four digits, which fits a tile.
std::string shortNumberText(double value);

/// Returns "1 step" or "20 steps".
std::string countedText(int64_t count, const char *noun);

/// Returns "2026-11-26 14:05 UTC", in the time zone of the machine, for seconds since 1970.
std::string timeText(double seconds);

/// Returns a duration in milliseconds, or in seconds from one second on.
std::string millisecondsText(double seconds);

/// Returns "step 7" or "steps 1 – 20".
std::string stepsText(const StepRange &range);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_REPORT_TEXT_H
