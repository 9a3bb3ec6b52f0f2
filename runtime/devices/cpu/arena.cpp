// Commits the pages of the arena.
#include "runtime/devices/cpu/arena.h"

#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14; older headers lack it
#endif

namespace mtc::runtime {

static constexpr int64_t pageBytes = int64_t{2} << 20; // size of a huge page

[[noreturn]] static void refuse(int64_t needed, const char *why) {
  int64_t available = availableMemory();
  systemError("the program needs ", needed, " bytes (", needed >> 20,
              " MiB) of memory, planned when it was compiled",
              available < 0
                  ? std::string()
                  : text("; ", available, " bytes (", available >> 20, " MiB) are available"),
              why, "; free some memory, or compile for less with --memory");
}

/// Commits the pages of a range; returns false if the system has none left.
static bool populate(char *start, int64_t bytes) {
  if (madvise(start, static_cast<size_t>(bytes), MADV_POPULATE_WRITE) == 0)
    return true;
  if (errno != EINVAL)
    return false;
  for (int64_t offset = 0; offset < bytes; offset += 4096)
    static_cast<volatile char *>(start)[offset] = 0;
  return true;
}

Arena::Arena(int64_t bytes, int threads) : size(bytes) {
  int64_t available = availableMemory();
  if (available >= 0 && bytes > available)
    refuse(bytes, "");
  if (bytes == 0)
    return;
  const int64_t page = sysconf(_SC_PAGESIZE); // up to 64 KiB on Arm
  mapped = (bytes + page - 1) / page * page;
  // Reserve additional addresses in order to start at a huge-page boundary; the rest is unmapped at
  // once.
  int64_t slack = mapped >= pageBytes ? pageBytes : 0;
  void *address = mmap(nullptr, static_cast<size_t>(mapped + slack), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    refuse(bytes, text(" (", std::strerror(errno), ")").c_str());
  start = static_cast<char *>(address);
  if (slack) {
    auto misalignment = static_cast<int64_t>(reinterpret_cast<uintptr_t>(start) % pageBytes);
    int64_t before = misalignment ? pageBytes - misalignment : 0;
    if (before)
      munmap(start, static_cast<size_t>(before));
    if (slack > before)
      munmap(start + before + mapped, static_cast<size_t>(slack - before));
    start += before;
    // Use huge pages only where they fit completely, so that the process does not exceed its
    // planned memory.
    madvise(start, static_cast<size_t>(mapped / pageBytes * pageBytes), MADV_HUGEPAGE);
  }
  std::atomic<bool> obtained = true;
  parallelFor(threads, (mapped + pageBytes - 1) / pageBytes, 8,
              [&](int, int64_t begin, int64_t end) {
                if (!populate(start + begin * pageBytes,
                              std::min(end * pageBytes, mapped) - begin * pageBytes))
                  obtained = false;
              });
  if (!obtained) {
    munmap(start, static_cast<size_t>(mapped));
    start = nullptr;
    refuse(bytes, " (its pages could not be allocated)");
  }
}

Arena::Arena(char *memory, int64_t bytes) : start(memory), size(bytes) {
  if (bytes > 0)
    std::memset(memory, 0, static_cast<size_t>(bytes));
}

Arena::~Arena() {
  if (start && mapped)
    munmap(start, static_cast<size_t>(mapped));
}

} // namespace mtc::runtime
