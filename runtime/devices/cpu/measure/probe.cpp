// Times calls and copies for the compiler's cost model.
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/measure/timing.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// Probes are repeated as a whole, so that other load on the machine affects them less.
constexpr double longEnough = 0.001;
constexpr int minRuns = 1;

/// Zeroed memory with the page size of a program's arena; `data` is null if it cannot be allocated.
class ProbeMemory {
public:
  explicit ProbeMemory(int64_t bytes) {
    constexpr size_t pageBytes = size_t{2} << 20; // size of a huge page
    size_t size = (static_cast<size_t>(bytes) + pageBytes) / pageBytes * pageBytes;
    start = static_cast<char *>(std::aligned_alloc(pageBytes, size));
    if (!start)
      return;
    madvise(start, size, MADV_HUGEPAGE);
    std::memset(start, 0, size);
  }
  ~ProbeMemory() { std::free(start); }
  ProbeMemory(const ProbeMemory &) = delete;
  ProbeMemory &operator=(const ProbeMemory &) = delete;

  char *data() const { return start; }

private:
  char *start;
};

/// Buffers of the sizes `bytes`, and the scratch after them; empty if they cannot be allocated.
class ProbeBuffers {
public:
  ProbeBuffers(const int64_t *bytes, int count, int64_t scratchBytes)
      : memory(offsetsOf(bytes, count) + scratchBytes) {
    if (!memory.data())
      return;
    for (int64_t offset : offsets)
      pointers.push_back(memory.data() + offset);
  }

  bool isEmpty() const { return pointers.empty(); }
  void run(LibraryCall &call) { call.run(pointers.data(), pointers.back()); }

private:
  /// Sets the offsets and returns the last.
  int64_t offsetsOf(const int64_t *bytes, int count) {
    offsets.assign(1, 0);
    for (int i = 0; i < count; ++i)
      offsets.push_back(offsets.back() + alignedBytes(bytes[i]));
    return offsets.back();
  }

  std::vector<int64_t> offsets;
  ProbeMemory memory;
  std::vector<char *> pointers;
};

/// Returns the CPU time of a call on one thread; negative if the call cannot be run.
double secondsAlone(const CallLibrary &library, const char *kind, const void *description,
                    const int64_t *bytes, int count) {
  LibraryThreads guard(1);
  auto prepared = LibraryCall::create(library, kind, description, 1);
  if (!prepared)
    return -1;
  ProbeBuffers buffers(bytes, count, prepared->scratchBytes());
  if (buffers.isEmpty())
    return -1;
  return fewestSeconds([&] { buffers.run(*prepared); }, longEnough, minRuns, threadSeconds);
}

} // namespace
} // namespace mtc::runtime

using namespace mtc::runtime;

extern "C" double mtc_call_seconds(MtcCallLibrary library, const char *kind,
                                   const void *description, const int64_t *bytes, int count,
                                   int threads) {
  std::vector<double> seconds(static_cast<size_t>(threads));
  parallelFor(threads, threads, 1, [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      seconds[static_cast<size_t>(i)] =
          secondsAlone(library == MTC_BUILT_IN ? builtInLibrary() : linkedLibrary(), kind,
                       description, bytes, count);
  });
  if (*std::min_element(seconds.begin(), seconds.end()) < 0)
    return -1;
  return *std::max_element(seconds.begin(), seconds.end()) / threads;
}

extern "C" double mtc_compare_calls(MtcCallLibrary library, const char *kind,
                                    const void *const *descriptions, int count,
                                    const int64_t *bytes, int buffers, double *seconds) {
  const double begin = threadSeconds();
  LibraryThreads guard(1);
  constexpr double never = std::numeric_limits<double>::infinity();
  // Calls that are slower than the fastest one by this quotient are not run in a round.
  constexpr std::array<double, 4> slow = {never, 1.2, 1.1, 1.05};
  std::vector<std::unique_ptr<LibraryCall>> calls;
  int64_t scratchBytes = 0;
  for (int i = 0; i < count; ++i) {
    calls.push_back(LibraryCall::create(
        library == MTC_BUILT_IN ? builtInLibrary() : linkedLibrary(), kind, descriptions[i], 1));
    seconds[i] = calls.back() ? never : -1;
    if (calls.back())
      scratchBytes = std::max(scratchBytes, calls.back()->scratchBytes());
  }
  ProbeBuffers shared(bytes, buffers, scratchBytes);
  if (shared.isEmpty()) {
    std::fill_n(seconds, count, -1);
    return threadSeconds() - begin;
  }
  double fewest = never;
  for (double quotient : slow)
    for (int i = 0; i < count; ++i) {
      if (!calls[static_cast<size_t>(i)] || seconds[i] > quotient * fewest)
        continue;
      const double start = threadSeconds();
      shared.run(*calls[static_cast<size_t>(i)]);
      seconds[i] = std::min(seconds[i], threadSeconds() - start);
      fewest = std::min(fewest, seconds[i]);
    }
  return threadSeconds() - begin;
}

extern "C" double mtc_copy_seconds(int64_t bytes, int threads) {
  ProbeMemory memory(2 * bytes);
  if (!memory.data())
    return -1;
  // For smaller parts, waking a thread costs more than it saves.
  constexpr int64_t grain = 16 << 10;
  return fewestSeconds(
      [&] {
        parallelFor(threads, bytes, grain, [&](int, int64_t begin, int64_t end) {
          std::memcpy(memory.data() + bytes + begin, memory.data() + begin,
                      static_cast<size_t>(end - begin));
        });
      },
      longEnough, minRuns, threads == 1 ? threadSeconds : wallSeconds);
}
