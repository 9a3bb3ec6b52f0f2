// Merges flags into a schedule.
#include "runtime/loop/schedule_override.h"

#include "runtime/io/input_file.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <sys/stat.h>

namespace mtc::runtime {

std::string ScheduleFlags::spelling() const {
  std::string all;
  auto add = [&](const char *flag, const std::string &value) {
    all += text(all.empty() ? "" : " ", flag, " ", value);
  };
  if (kind)
    add("--schedule", *kind);
  if (rate)
    add("--lr", spellNumber(*rate));
  if (minRate)
    add("--min-lr", spellNumber(*minRate));
  if (warmup)
    add("--warmup", std::to_string(*warmup));
  if (decay)
    add("--decay-steps", std::to_string(*decay));
  if (!table.empty())
    add("--schedule-table", table);
  return all;
}

std::vector<std::string> readScheduleTable(const std::string &text) {
  constexpr int64_t maxBytes = 16 << 20; // also the limit of the compiler
  struct stat status;
  std::vector<std::string> entries;
  std::string problem;
  if (stat(text.c_str(), &status) != 0 && abi::arePoints(text)) {
    problem = abi::splitPoints(text, entries);
  } else {
    const InputFile file(text);
    if (file.size() > maxBytes)
      userError("--schedule-table ", text, ": has ", file.size(), " bytes, expected at most ",
                maxBytes);
    std::string contents(static_cast<size_t>(file.size()), '\0');
    file.read(0, contents.data(), file.size());
    problem = abi::readPoints(contents, entries);
  }
  if (!problem.empty())
    userError("--schedule-table ", text, ": ", problem);
  return entries;
}

ScheduleSettings overrideSchedule(const ScheduleSettings &base, const ScheduleFlags &flags) {
  abi::ScheduleOptions options;
  options.kind = flags.kind.value_or(base.kind);
  const abi::Schedule &kind = *abi::findSchedule(options.kind.c_str());
  const bool isMinGiven = base.minRate != abi::findSchedule(base.kind.c_str())->minRate * base.rate;
  options.minRate = flags.minRate;
  if (!flags.minRate && kind.hasMin && isMinGiven)
    options.minRate = base.minRate;
  options.warmup = flags.warmup.value_or(kind.hasWarmup ? base.warmup : 0);
  options.decay = flags.decay.value_or(kind.hasDecay ? base.decay : 0);
  options.points = flags.points;

  Problems problems;
  auto check = [&](const std::string &flag, const std::string &problem) {
    if (!problem.empty())
      problems.add(flag, ": ", problem);
  };
  const bool keepsPoints = kind.hasPoints && flags.points.empty() && !base.points.steps.empty();
  ScheduleSettings result;
  result.kind = options.kind;
  result.warmup = options.warmup;
  result.decay = options.decay;
  if (keepsPoints)
    result.points = base.points;
  else if (const auto parsed = abi::parsePoints(options.points))
    result.points = *parsed;
  if (!keepsPoints)
    check("--schedule " + options.kind, options.checkKind());
  check("--schedule-table " + flags.table, options.checkPoints());
  if (flags.rate && kind.hasPoints)
    check("--lr " + spellNumber(*flags.rate), abi::tableSetsRates);
  result.rate = flags.rate.value_or(base.rate);
  if (!result.points.rates.empty())
    result.rate = *std::max_element(result.points.rates.begin(), result.points.rates.end());
  if (flags.minRate)
    check("--min-lr " + spellNumber(*flags.minRate), options.checkMin(result.rate));
  else if (options.minRate && *options.minRate > result.rate)
    problems.add(flags.spelling(), ": the peak rate, ", spellNumber(result.rate),
                 ", is lower than the minimum rate of the schedule, ", spellNumber(base.minRate),
                 "; give --min-lr, too");
  check(text("--warmup ", options.warmup), options.checkWarmup());
  check(text("--decay-steps ", options.decay), options.checkDecay());
  problems.throwIfAny();
  result.minRate = options.minRateOf(result.rate);
  return result;
}

} // namespace mtc::runtime
