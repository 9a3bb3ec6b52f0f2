// Work on ranges, on threads of its own: for what is done once, before a run.
#ifndef MTC_RUNTIME_SUPPORT_PARALLEL_RANGES_H
#define MTC_RUNTIME_SUPPORT_PARALLEL_RANGES_H

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace mtc::runtime {

/// Calls `body` on disjoint ranges that cover [0, extent), of at least `grain` if there are
/// several.
template <typename Body>
void onRanges(int threads, int64_t extent, int64_t grain, const Body &body) {
  const int64_t parts = std::clamp<int64_t>(extent / grain, 1, threads);
  auto run = [=, &body](int64_t part) { body(extent * part / parts, extent * (part + 1) / parts); };
  std::vector<std::jthread> running;
  for (int64_t part = 1; part < parts; ++part)
    try {
      running.emplace_back([&run, part] { run(part); });
    } catch (const std::system_error &) {
      run(part); // No thread to be had.
    }
  run(0);
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_PARALLEL_RANGES_H
