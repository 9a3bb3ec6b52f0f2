// The options of a learning rate schedule, and their checks. Flags of the compiler and of programs
// set them.
#ifndef MTC_RUNTIME_ABI_SCHEDULE_OPTIONS_H
#define MTC_RUNTIME_ABI_SCHEDULE_OPTIONS_H

#include "runtime/abi/number.h"
#include "runtime/abi/schedule.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::abi {

/// The points of the `table` schedule, with increasing steps.
struct SchedulePoints {
  std::vector<int64_t> steps;
  std::vector<double> rates;

  bool operator==(const SchedulePoints &) const = default;
};

inline std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

/// Returns the points of entries "STEP:RATE", or nullopt if an entry is malformed, a rate is not in
/// the range of f32, or steps are not strictly increasing from 1 on.
inline std::optional<SchedulePoints> parsePoints(const std::vector<std::string> &entries) {
  SchedulePoints points;
  for (const std::string_view entry : entries) {
    const size_t colon = entry.find(':');
    int64_t step = 0;
    double rate = 0;
    if (colon == std::string_view::npos ||
        !parseNumber(trimmed(entry.substr(0, colon)), step).empty() ||
        !parseNumber(trimmed(entry.substr(colon + 1)), rate).empty() || step < 1 || rate < 0 ||
        rate > maxF32 || (!points.steps.empty() && step <= points.steps.back()))
      return std::nullopt;
    points.steps.push_back(step);
    points.rates.push_back(rate);
  }
  return points;
}

/// Returns whether a value of --schedule-table, if it is not the name of a file, is a list of
/// STEP:RATE, possibly malformed.
inline bool arePoints(std::string_view text) {
  return text.find_first_not_of("0123456789 \t:,.+-eE") == std::string_view::npos;
}

/// Adds the entries of a comma-separated list of STEP:RATE. Returns the problem, as the end of a
/// message, or "".
inline std::string splitPoints(std::string_view text, std::vector<std::string> &entries) {
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(',', begin);
    const std::string_view entry = trimmed(text.substr(begin, end - begin));
    if (entry.find(':') == std::string_view::npos)
      return "'" + std::string(entry) +
             "': invalid point; expected STEP:RATE, such as 100:1e-3, or a file name";
    entries.emplace_back(entry);
  }
  return "";
}

/// Adds the entries of a file with one step and rate per line, separated by spaces, tabs or a
/// comma. Returns the problem, as the end of a message, or "".
inline std::string readPoints(std::string_view contents, std::vector<std::string> &entries) {
  constexpr std::string_view separators = " \t\r,";
  const size_t before = entries.size();
  int64_t number = 1;
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1, ++number) {
    end = contents.find('\n', begin);
    const std::string_view line = contents.substr(begin, end - begin);
    std::vector<std::string_view> words;
    for (size_t at = line.find_first_not_of(separators); at != std::string_view::npos;) {
      const size_t after = line.find_first_of(separators, at);
      words.push_back(line.substr(at, after - at));
      at = line.find_first_not_of(separators, after);
    }
    if (words.empty() || line.starts_with('#'))
      continue;
    int64_t step = 0;
    double rate = 0;
    if (words.size() != 2 || !parseNumber(words[0], step).empty() ||
        !parseNumber(words[1], rate).empty())
      return "line " + std::to_string(number) + ": expected a step and a rate, such as 100 1e-3";
    entries.push_back(std::string(words[0]) + ":" + std::string(words[1]));
  }
  return entries.size() > before ? ""
                                 : "contains no points; expected a step and a rate on each line";
}

/// Returns the names of the schedules with a property, for instance "linear, cosine".
inline std::string schedulesWith(bool Schedule::*has) {
  std::string names;
  for (const Schedule &schedule : schedules)
    if (schedule.*has)
      names += (names.empty() ? "" : ", ") + std::string(schedule.name);
  return names;
}

/// The options other than the peak rate. Each check returns the problem as the end of a message; ""
/// if the option is valid. Unknown schedules are reported elsewhere.
struct ScheduleOptions {
  std::string kind = "constant";
  std::optional<double> minRate;   ///< the minimum rate; nullopt: the default of the schedule
  int64_t warmup = 0, decay = 0;   ///< 0 if not given
  std::vector<std::string> points; ///< entries "STEP:RATE"

  std::string checkKind() const {
    const Schedule *schedule = findSchedule(kind.c_str());
    return schedule && schedule->hasPoints && points.empty() ? "requires --schedule-table" : "";
  }

  /// `rate` is the peak rate.
  std::string checkMin(double rate) const {
    if (!minRate)
      return "";
    std::array<char, 32> spelled{};
    std::snprintf(spelled.data(), spelled.size(), "%g", rate);
    if (!(*minRate >= 0 && *minRate <= rate))
      return std::string("expected a rate from 0 to --lr, which is ") + spelled.data();
    return checkHas(&Schedule::hasMin, "final learning rate");
  }

  std::string checkWarmup() const { return checkSteps(warmup, &Schedule::hasWarmup, "warm-up"); }
  std::string checkDecay() const { return checkSteps(decay, &Schedule::hasDecay, "decay steps"); }

  std::string checkPoints() const {
    if (points.empty())
      return "";
    if (!parsePoints(points))
      return "expected points STEP:RATE with increasing steps from 1 on and rates of at most "
             "3.4e+38, such as 1:1e-4, 100:1e-3";
    return checkHas(&Schedule::hasPoints, "table");
  }

  /// Returns the minimum rate of a valid schedule with this peak rate.
  double minRateOf(double rate) const {
    return minRate.value_or(findSchedule(kind.c_str())->minRate * rate);
  }

private:
  std::string checkHas(bool Schedule::*has, const char *what) const {
    const Schedule *schedule = findSchedule(kind.c_str());
    if (!schedule || schedule->*has)
      return "";
    return "schedule '" + kind + "' has no " + what + "; expected " + schedulesWith(has);
  }
  std::string checkSteps(int64_t steps, bool Schedule::*has, const char *what) const {
    if (steps < 0)
      return "expected a non-negative number of steps";
    return steps ? checkHas(has, what) : "";
  }
};

/// The problem of a peak rate that is given in addition to a table.
inline constexpr const char *tableSetsRates =
    "conflicts with --schedule-table, which sets the rates";

} // namespace mtc::abi

#endif // MTC_RUNTIME_ABI_SCHEDULE_OPTIONS_H
