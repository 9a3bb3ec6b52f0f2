// How long something takes that runs again and again.
#ifndef MTC_RUNTIME_DEVICES_CPU_TIMING_H
#define MTC_RUNTIME_DEVICES_CPU_TIMING_H

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace mtc::runtime {

inline double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of the processor, for the calling thread: what others run meanwhile does not count.
inline double threadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The fewest seconds by a clock that a run of `action` takes: of at least `minRuns` runs, of more
/// while they take less than `longEnough` seconds together. The first one does not count.
template <typename Action>
double fewestSeconds(const Action &action, double longEnough, int minRuns = 3,
                     double (*clock)() = wallSeconds) {
  constexpr int maxRuns = 100;
  action();
  double sum = 0, fewest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < minRuns || (sum < longEnough && run < maxRuns); ++run) {
    double begin = clock();
    action();
    double seconds = clock() - begin;
    sum += seconds;
    fewest = std::min(fewest, seconds);
  }
  return fewest;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_TIMING_H
