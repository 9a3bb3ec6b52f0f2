// Timing of repeated work.
#ifndef MTC_RUNTIME_DEVICES_CPU_MEASURE_TIMING_H
#define MTC_RUNTIME_DEVICES_CPU_MEASURE_TIMING_H

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace mtc::runtime {

inline double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the CPU time of the calling thread, which excludes other load on the machine.
inline double threadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the minimum time of a run of `action`, by `clock`. Runs it at least `minRuns` times, and
/// up to 100 times until the runs take `longEnough` seconds together. A warm-up run is not counted.
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

#endif // MTC_RUNTIME_DEVICES_CPU_MEASURE_TIMING_H
