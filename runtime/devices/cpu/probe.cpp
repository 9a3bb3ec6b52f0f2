// Calls and copies that the compiler has timed, to estimate what others take.
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/parallel.h"
#include "runtime/devices/cpu/timing.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// Probes are repeated after each other, so that what else the machine does disturbs them less.
constexpr double longEnough = 0.001;
constexpr int minRuns = 1;

double (*clockOf(int threads))() { return threads == 1 ? threadSeconds : wallSeconds; }

/// Zeroed memory in pages of the size that a program's arena has; `data` is null where there is
/// none.
class ProbeMemory {
public:
  explicit ProbeMemory(int64_t bytes) {
    constexpr size_t pageBytes = size_t{2} << 20; // of a huge page
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

} // namespace
} // namespace mtc::runtime

using namespace mtc::runtime;

extern "C" double mtc_call_seconds(const char *kind, const void *description, const int64_t *bytes,
                                   int count, int threads) {
  LibraryThreads guard(threads);
  auto prepared = LibraryCall::create(kind, description, threads);
  if (!prepared)
    return -1;
  std::vector<int64_t> offsets(1, 0);
  for (int i = 0; i < count; ++i)
    offsets.push_back(offsets.back() + alignedBytes(bytes[i]));
  ProbeMemory memory(offsets.back() + prepared->scratchBytes());
  if (!memory.data())
    return -1;
  std::vector<char *> buffers;
  for (int64_t offset : offsets)
    buffers.push_back(memory.data() + offset);
  return fewestSeconds([&] { prepared->run(buffers.data(), buffers.back()); }, longEnough, minRuns,
                       clockOf(threads));
}

extern "C" double mtc_copy_seconds(int64_t bytes, int threads) {
  ProbeMemory memory(2 * bytes);
  if (!memory.data())
    return -1;
  // A part of less would not be worth a thread's waking.
  constexpr int64_t grain = 16 << 10;
  return fewestSeconds(
      [&] {
        parallelFor(threads, bytes, grain, [&](int, int64_t begin, int64_t end) {
          std::memcpy(memory.data() + bytes + begin, memory.data() + begin,
                      static_cast<size_t>(end - begin));
        });
      },
      longEnough, minRuns, clockOf(threads));
}
