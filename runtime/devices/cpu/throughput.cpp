// Copies and contractions that are timed alone.
#include "runtime/devices/cpu/throughput.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/arena.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/parallel.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// The fewest seconds that a run of `action` takes: of at least 3 runs, of more while they take
/// less than 50 ms together. The first one does not count.
template <typename Action> double fewestSeconds(const Action &action) {
  constexpr int minRuns = 3, maxRuns = 100;
  constexpr double longEnough = 0.05;
  using Clock = std::chrono::steady_clock;
  action();
  double sum = 0, fewest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < minRuns || (sum < longEnough && run < maxRuns); ++run) {
    auto begin = Clock::now();
    action();
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    sum += seconds;
    fewest = std::min(fewest, seconds);
  }
  return fewest;
}

/// What `measure` gives, or nothing where the memory for it cannot be had.
template <typename Measure> std::optional<double> ifMemoryAllows(const Measure &measure) {
  try {
    return measure();
  } catch (const Failure &) {
    return std::nullopt;
  }
}

/// Of source and destination each.
int64_t bytesToCopy() {
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp<int64_t>(2 * cache, int64_t{256} << 20, int64_t{1} << 30);
}

int64_t aligned(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

} // namespace

std::optional<double> copyBandwidth(int threads) {
  return ifMemoryAllows([&] {
    const int64_t bytes = bytesToCopy();
    Arena arena(2 * bytes, threads); // Pages of the size that a program's have.
    double seconds = fewestSeconds([&] {
      parallelFor(threads, bytes, 1, [&](int, int64_t begin, int64_t end) {
        std::memcpy(arena.at(bytes + begin), arena.at(begin), static_cast<size_t>(end - begin));
      });
    });
    return 2 * static_cast<double>(bytes) / seconds;
  });
}

std::optional<double> plainContractionThroughput(const MtcContraction &plain, int threads) {
  auto prepared = LibraryCall::create(MTC_CONTRACTION, &plain, threads);
  if (!prepared)
    return std::nullopt;
  return ifMemoryAllows([&] {
    auto bytes = [&](int64_t rows, int64_t columns, uint32_t type) {
      return aligned(plain.batch[0] * rows * columns * typeBytes(type));
    };
    const int64_t rhs = bytes(plain.m, plain.k, plain.type),
                  out = rhs + bytes(plain.k, plain.n, plain.type),
                  scratch = out + bytes(plain.m, plain.n, resultType(plain));
    Arena arena(scratch + prepared->scratchBytes(), threads);
    char *const buffers[] = {arena.data(), arena.at(rhs), arena.at(out)};
    double seconds = fewestSeconds([&] { prepared->run(buffers, arena.at(scratch)); });
    return static_cast<double>(contractionFlops(plain)) / seconds;
  });
}

} // namespace mtc::runtime
