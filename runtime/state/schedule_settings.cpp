// Conversions of schedules.
#include "runtime/state/schedule_settings.h"

#include "runtime/support/failure.h"

#include <array>
#include <charconv>

namespace mtc::runtime {

std::string spellNumber(double number) {
  std::array<char, 32> digits{};
  char *end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

ScheduleSettings::ScheduleSettings(const MtcSchedule &schedule)
    : kind(schedule.kind), rate(schedule.rate), minRate(schedule.min_rate), warmup(schedule.warmup),
      decay(schedule.decay) {
  for (uint32_t i = 0; i < schedule.point_count; ++i) {
    points.steps.push_back(schedule.steps[i]);
    points.rates.push_back(schedule.rates[i]);
  }
}

MtcSchedule ScheduleSettings::view() const {
  return {.kind = kind.c_str(),
          .rate = rate,
          .min_rate = minRate,
          .warmup = warmup,
          .decay = decay,
          .point_count = static_cast<uint32_t>(points.steps.size()),
          .steps = points.steps.data(),
          .rates = points.rates.data()};
}

std::string ScheduleSettings::flags() const {
  std::string all = "--schedule " + kind;
  if (!points.steps.empty()) {
    for (size_t i = 0; i < points.steps.size(); ++i)
      all +=
          text(i ? "," : " --schedule-table ", points.steps[i], ":", spellNumber(points.rates[i]));
    return all;
  }
  all += " --lr " + spellNumber(rate);
  if (minRate != 0)
    all += " --min-lr " + spellNumber(minRate);
  if (warmup)
    all += text(" --warmup ", warmup);
  if (decay)
    all += text(" --decay-steps ", decay);
  return all;
}

} // namespace mtc::runtime
