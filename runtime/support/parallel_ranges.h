// Parallel loops on temporary threads, for work that is done once before a run.
#ifndef MTC_RUNTIME_SUPPORT_PARALLEL_RANGES_H
#define MTC_RUNTIME_SUPPORT_PARALLEL_RANGES_H

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace mtc::runtime {

/// Calls `body` on disjoint ranges that cover [0, extent). If there are several ranges, each has at
/// least `grain` elements.
template <typename Body>
void onRanges(int threads, int64_t extent, int64_t grain, const Body &body) {
  const int64_t parts = std::clamp<int64_t>(extent / grain, 1, threads);
  auto run = [=, &body](int64_t part) { body(extent * part / parts, extent * (part + 1) / parts); };
  std::vector<std::jthread> running;
  for (int64_t part = 1; part < parts; ++part)
    try {
      running.emplace_back([&run, part] { run(part); });
    } catch (const std::system_error &) {
      run(part); // The system cannot start a thread.
    }
  run(0);
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_PARALLEL_RANGES_H
