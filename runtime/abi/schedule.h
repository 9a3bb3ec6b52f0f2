/* The schedules of the learning rate: what each is called, and its formula. The compiler takes the
 * names, what they stand for, and what else may be said of them; the program evaluates the formula.
 * A schedule is one entry of `schedules`. */
#ifndef MTC_RUNTIME_ABI_SCHEDULE_H
#define MTC_RUNTIME_ABI_SCHEDULE_H

#include "runtime/abi/program.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mtc::abi {

/// The rate of step `step`, from 0, of a schedule of `end` steps, as PyTorch's schedulers and
/// Hugging Face's count them: the last step is `end - 1`. Steps of the warm-up are not asked for,
/// unless the schedule has a rise of its own.
using Rate = double (*)(const MtcSchedule &schedule, double step, double end);

struct Schedule {
  const char *name, *help;
  Rate rate;
  bool hasEnd = true;    ///< Rates depend on where the schedule ends.
  bool hasLeast = true;  ///< There is a rate that it falls to, or never below.
  bool hasWarmup = true; ///< Steps in which the rate rises may be chosen.
  bool hasDecay = false; ///< So may be those in which it falls.
  bool hasPoints = false;
  /// The rate rises in its own way, not on a line from 0 in the steps of the warm-up.
  bool risesItself = false;
  bool warmsUpFromLeast = false; ///< The line of the warm-up starts at the least rate, not at 0.
  double least = 0;              ///< Of the highest rate, unless it is chosen.
};

/// On the way from the warm-up's end to `end`: 0 to 1, which no step of the run has.
inline double shareDone(const MtcSchedule &s, double step, double end) {
  const double warmup = static_cast<double>(s.warmup);
  return std::clamp((step - warmup) / std::max(end - warmup, 1.0), 0.0, 1.0);
}

/// From `high` to `low` as half a cosine wave.
inline double alongCosine(double high, double low, double share) {
  constexpr double pi = 3.14159265358979323846;
  return low + (high - low) * 0.5 * (1 + std::cos(pi * share));
}

inline double constantRate(const MtcSchedule &s, double, double) { return s.rate; }

/// As Hugging Face's get_linear_schedule_with_warmup, and PyTorch's LinearLR from 1.
inline double linearRate(const MtcSchedule &s, double step, double end) {
  return s.least + (s.rate - s.least) * (1 - shareDone(s, step, end));
}

/// As Hugging Face's get_cosine_with_min_lr_schedule_with_warmup, and PyTorch's CosineAnnealingLR.
inline double cosineRate(const MtcSchedule &s, double step, double end) {
  return alongCosine(s.rate, s.least, shareDone(s, step, end));
}

/// As in Vaswani et al., "Attention Is All You Need", 2017, and Hugging Face's
/// get_inverse_sqrt_schedule; without a warm-up as after one of 10000 steps.
inline double inverseRootRate(const MtcSchedule &s, double step, double) {
  const double scale = s.warmup ? static_cast<double>(s.warmup) : 1e4;
  const double later = step - static_cast<double>(s.warmup);
  return std::max(s.least, s.rate * std::sqrt(scale / (later + scale)));
}

/// As in Hu et al., "MiniCPM", 2024, with a straight fall: Hugging Face's get_wsd_schedule with
/// decay_type="linear".
inline double stableRate(const MtcSchedule &s, double step, double end) {
  const double left = std::max(end - static_cast<double>(s.warmup), 1.0);
  const double decay = s.decay ? static_cast<double>(s.decay) : std::max(left / 10, 1.0);
  return s.least + (s.rate - s.least) * std::clamp((end - step) / decay, 0.0, 1.0);
}

/// As PyTorch's OneCycleLR, which reaches the highest rate after 30 % of the steps, from a 25th of
/// it, and the least in the last step.
inline double oneCycleRate(const MtcSchedule &s, double step, double end) {
  const double top = (s.warmup ? static_cast<double>(s.warmup) : 0.3 * end) - 1;
  if (step < top)
    return alongCosine(s.rate / 25, s.rate, step / top);
  const double share = end - 1 > top ? (step - top) / (end - 1 - top) : 0;
  return alongCosine(s.rate, s.least, std::min(share, 1.0));
}

/// On lines between the points, whose steps count from 1, and level beyond the first and the last.
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
     .hasLeast = false},
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
     .warmsUpFromLeast = true},
    {.name = "one-cycle",
     .help = "one-cycle policy: cosine warm-up from lr / 25, cosine decay",
     .rate = oneCycleRate,
     .risesItself = true,
     .least = 1.0 / 25e4},
    {.name = "table",
     .help = "the points of --schedule-table",
     .rate = tableRate,
     .hasEnd = false,
     .hasLeast = false,
     .hasWarmup = false,
     .hasPoints = true,
     .risesItself = true}};

/// Null if there is none of this name.
inline const Schedule *findSchedule(const char *name) {
  const Schedule *found =
      std::find_if(std::begin(schedules), std::end(schedules),
                   [&](const Schedule &each) { return std::strcmp(each.name, name) == 0; });
  return found == std::end(schedules) ? nullptr : found;
}

} // namespace mtc::abi

#endif /* MTC_RUNTIME_ABI_SCHEDULE_H */
