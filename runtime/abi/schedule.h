/* Learning rate schedules: their names, formulas and properties. The compiler reads the names, help
 * texts and valid options; the program evaluates the formula. Each schedule is one entry of
 * `schedules`. */
#ifndef MTC_RUNTIME_ABI_SCHEDULE_H
#define MTC_RUNTIME_ABI_SCHEDULE_H

#include "runtime/abi/program.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mtc::abi {

/// Returns the rate of step `step` (from 0) of a schedule of `end` steps, counted as in the
/// schedulers of PyTorch and Hugging Face: the last step is `end - 1`. Never called for warm-up
/// steps, unless the schedule has `risesItself` set.
using Rate = double (*)(const MtcSchedule &schedule, double step, double end);

struct Schedule {
  const char *name, *help;
  Rate rate;
  bool hasEnd = true;    ///< The rates depend on `end`.
  bool hasMin = true;    ///< The schedule has a minimum rate.
  bool hasWarmup = true; ///< The number of warm-up steps is an option.
  bool hasDecay = false; ///< The number of decay steps is an option.
  bool hasPoints = false;
  /// The schedule defines its own warm-up instead of the linear one from 0.
  bool risesItself = false;
  bool warmsUpFromMin = false; ///< The linear warm-up starts at the minimum rate, not at 0.
  double minRate = 0;          ///< Default minimum rate, as a fraction of the peak rate.
};

/// Returns the progress from the end of the warm-up to `end`: from 0 to 1, where 1 is after the
/// last step of the run.
inline double shareDone(const MtcSchedule &s, double step, double end) {
  const double warmup = static_cast<double>(s.warmup);
  return std::clamp((step - warmup) / std::max(end - warmup, 1.0), 0.0, 1.0);
}

/// Interpolates from `high` to `low` along half a cosine period.
inline double alongCosine(double high, double low, double share) {
  constexpr double pi = 3.14159265358979323846;
  return low + (high - low) * 0.5 * (1 + std::cos(pi * share));
}

inline double constantRate(const MtcSchedule &s, double, double) { return s.rate; }

/// Equals get_linear_schedule_with_warmup of Hugging Face, and LinearLR of PyTorch from factor 1.
inline double linearRate(const MtcSchedule &s, double step, double end) {
  return s.min_rate + (s.rate - s.min_rate) * (1 - shareDone(s, step, end));
}

/// Equals get_cosine_with_min_lr_schedule_with_warmup of Hugging Face, and CosineAnnealingLR of
/// PyTorch.
inline double cosineRate(const MtcSchedule &s, double step, double end) {
  return alongCosine(s.rate, s.min_rate, shareDone(s, step, end));
}

/// The schedule of Vaswani et al., "Attention Is All You Need", 2017, and of
/// get_inverse_sqrt_schedule of Hugging Face. Without a warm-up, the rate decays as it does after a
/// warm-up of 10000 steps.
inline double inverseRootRate(const MtcSchedule &s, double step, double) {
  const double scale = s.warmup ? static_cast<double>(s.warmup) : 1e4;
  const double later = step - static_cast<double>(s.warmup);
  return std::max(s.min_rate, s.rate * std::sqrt(scale / (later + scale)));
}

/// Warm-up, stable, decay (Hu et al., "MiniCPM", 2024) with a linear decay: equals get_wsd_schedule
/// of Hugging Face with decay_type="linear".
inline double stableRate(const MtcSchedule &s, double step, double end) {
  const double left = std::max(end - static_cast<double>(s.warmup), 1.0);
  const double decay = s.decay ? static_cast<double>(s.decay) : std::max(left / 10, 1.0);
  return s.min_rate + (s.rate - s.min_rate) * std::clamp((end - step) / decay, 0.0, 1.0);
}

/// Equals OneCycleLR of PyTorch, which starts at 1/25 of the peak rate, reaches the peak after 30 %
/// of the steps, and the minimum in the last step.
inline double oneCycleRate(const MtcSchedule &s, double step, double end) {
  const double top = (s.warmup ? static_cast<double>(s.warmup) : 0.3 * end) - 1;
  if (step < top)
    return alongCosine(s.rate / 25, s.rate, step / top);
  const double share = end - 1 > top ? (step - top) / (end - 1 - top) : 0;
  return alongCosine(s.rate, s.min_rate, std::min(share, 1.0));
}

/// Piecewise linear between the points, whose steps count from 1; constant before the first and
/// after the last point.
inline double tableRate(const MtcSchedule &s, double step, double) {
  const double number = step + 1;
  uint32_t next = 0;
  while (next < s.point_count && static_cast<double>(s.steps[next]) <= number)
    ++next;
  if (next == 0 || next == s.point_count)
    return s.rates[next ? next - 1 : 0];
  const double from = static_cast<double>(s.steps[next - 1]);
  const double share = (number - from) / (static_cast<double>(s.steps[next]) - from);
  return s.rates[next - 1] + share * (s.rates[next] - s.rates[next - 1]);
}

inline constexpr Schedule schedules[] = {
    {.name = "constant",
     .help = "constant",
     .rate = constantRate,
     .hasEnd = false,
     .hasMin = false},
    {.name = "linear", .help = "linear decay to --min-lr", .rate = linearRate},
    {.name = "cosine", .help = "cosine decay to --min-lr", .rate = cosineRate},
    {.name = "inverse-sqrt",
     .help = "inverse square root of the step",
     .rate = inverseRootRate,
     .hasEnd = false},
    {.name = "wsd",
     .help = "warm-up, stable, then linear decay over --decay-steps",
     .rate = stableRate,
     .hasDecay = true,
     .warmsUpFromMin = true},
    {.name = "one-cycle",
     .help = "one-cycle policy: cosine warm-up from lr / 25, cosine decay",
     .rate = oneCycleRate,
     .risesItself = true,
     .minRate = 1.0 / 25e4},
    {.name = "table",
     .help = "the points of --schedule-table",
     .rate = tableRate,
     .hasEnd = false,
     .hasMin = false,
     .hasWarmup = false,
     .hasPoints = true,
     .risesItself = true}};

/// Returns the schedule of this name, or null.
inline const Schedule *findSchedule(const char *name) {
  const Schedule *found =
      std::find_if(std::begin(schedules), std::end(schedules),
                   [&](const Schedule &each) { return std::strcmp(each.name, name) == 0; });
  return found == std::end(schedules) ? nullptr : found;
}

} // namespace mtc::abi

#endif /* MTC_RUNTIME_ABI_SCHEDULE_H */
