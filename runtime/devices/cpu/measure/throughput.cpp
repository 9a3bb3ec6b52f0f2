// Throughput of copies and contractions, measured in isolation.
#include "runtime/devices/cpu/measure/throughput.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/arena.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/measure/timing.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace mtc::runtime {
namespace {

constexpr double longEnough = 0.05;

/// Returns the result of `measure`, or nullopt if its memory cannot be allocated.
template <typename Measure> std::optional<double> ifMemoryAllows(const Measure &measure) {
  try {
    return measure();
  } catch (const Failure &) {
    return std::nullopt;
  }
}

/// Returns the size of the source and of the destination.
int64_t bytesToCopy() {
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp<int64_t>(2 * cache, int64_t{96} << 20, int64_t{1} << 30);
}

int64_t aligned(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

} // namespace

std::optional<double> copyBandwidth(int threads) {
  return ifMemoryAllows([&] {
    const int64_t bytes = bytesToCopy();
    Arena arena(2 * bytes, threads); // Uses the page size of a program's arena.
    double seconds = fewestSeconds(
        [&] {
          parallelFor(threads, bytes, 1, [&](int, int64_t begin, int64_t end) {
            std::memcpy(arena.at(bytes + begin), arena.at(begin), static_cast<size_t>(end - begin));
          });
        },
        longEnough);
    return 2 * static_cast<double>(bytes) / seconds;
  });
}

namespace {

/// Returns the same contraction without its batch dimension of extent 1, because there is only one
/// algorithm for contractions with a batch dimension.
MtcContraction withoutBatch(const MtcContraction &plain) {
  MtcContraction c = plain;
  c.batch_rank = 0;
  for (int64_t *strides : {c.lhs_strides, c.rhs_strides, c.out_strides})
    std::copy_n(strides + 1, 2, strides);
  return c;
}

std::optional<double> throughputOf(const MtcContraction &plain, int threads, int minRuns) {
  auto prepared = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &plain, threads);
  if (!prepared)
    return std::nullopt;
  return ifMemoryAllows([&] {
    auto bytes = [&](int64_t rows, int64_t columns, uint32_t type) {
      return aligned((plain.batch_rank ? plain.batch[0] : 1) * rows * columns * typeBytes(type));
    };
    const int64_t rhs = bytes(plain.m, plain.k, plain.lhs_type),
                  out = rhs + bytes(plain.k, plain.n, plain.rhs_type),
                  scratch = out + bytes(plain.m, plain.n, plain.out_type);
    Arena arena(scratch + prepared->scratchBytes(), threads);
    char *const buffers[] = {arena.data(), arena.at(rhs), arena.at(out)};
    double seconds =
        fewestSeconds([&] { prepared->run(buffers, arena.at(scratch)); }, longEnough, minRuns);
    return contractionFlops(plain) / seconds;
  });
}

} // namespace

std::optional<double> plainContractionThroughput(const MtcContraction &plain, int threads) {
  std::optional<double> best = throughputOf(plain, threads, /*minRuns=*/3);
  if (!best || plain.batch[0] != 1)
    return best;
  MtcContraction other = withoutBatch(plain);
  for (uint32_t algorithm : {MTC_PACKED_RHS, MTC_PACKED_OPERANDS, MTC_OWN_PANELS}) {
    other.algorithm = algorithm;
    best = std::max(best, throughputOf(other, threads, /*minRuns=*/1));
  }
  return best;
}

} // namespace mtc::runtime
