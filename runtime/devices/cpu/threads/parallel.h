// Parallel regions, on the threads of the process's pool, which oneDNN uses too: a second pool
// would compete for the cores.
#ifndef MTC_RUNTIME_DEVICES_CPU_THREADS_PARALLEL_H
#define MTC_RUNTIME_DEVICES_CPU_THREADS_PARALLEL_H

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// Calls `body(context, part)` once for each part in [0, parts), each on a thread of the pool, and
/// returns when all calls have returned. `body` must not throw.
void runParts(int parts, void (*body)(void *context, int part), void *context);

/// Returns the number of threads that OpenMP libraries may use on the calling thread; 1 in programs
/// without such a library.
int libraryThreads();
void setLibraryThreads(int threads);

/// Sets the number of threads of the calling thread's library calls within a scope.
class LibraryThreads {
public:
  explicit LibraryThreads(int threads) : before(libraryThreads()) { setLibraryThreads(threads); }
  ~LibraryThreads() { setLibraryThreads(before); }
  LibraryThreads(const LibraryThreads &) = delete;
  LibraryThreads &operator=(const LibraryThreads &) = delete;

private:
  int before;
};

/// Returns the first item of a part when [0, extent) is split into `parts`. Long ranges are split
/// at multiples of 64 items to avoid false sharing of cache lines.
inline int64_t partBegin(int64_t extent, int parts, int part) {
  if (part >= parts)
    return extent;
  int64_t begin = static_cast<int64_t>(static_cast<__int128>(extent) * part / parts);
  return extent / parts >= 1024 ? begin / 64 * 64 : begin;
}

/// Calls `body(part, begin, end)` on disjoint ranges that cover [0, extent): at most `threads`
/// ranges of at least `grain` items each (one range if there are fewer items).
template <typename Body>
void parallelFor(int threads, int64_t extent, int64_t grain, const Body &body) {
  if (extent <= 0)
    return;
  int64_t wanted = extent / std::max<int64_t>(grain, 1);
  int parts = static_cast<int>(std::clamp<int64_t>(wanted, 1, threads));
  if (parts == 1) {
    body(0, int64_t{0}, extent);
    return;
  }
  struct Context {
    const Body &body;
    int64_t extent;
    int parts;
  } context{body, extent, parts};
  runParts(
      parts,
      [](void *opaque, int part) {
        auto &c = *static_cast<Context *>(opaque);
        c.body(part, partBegin(c.extent, c.parts, part), partBegin(c.extent, c.parts, part + 1));
      },
      &context);
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_THREADS_PARALLEL_H
