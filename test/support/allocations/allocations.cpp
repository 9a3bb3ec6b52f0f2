// A library that counts the memory allocations of the program into which it is preloaded, by
// caller: the program itself, or a library. At the program's end, the file in the environment
// variable MTC_ALLOCATIONS gets a line `COUNT OBJECT` for each, then `N peak` and `N left`, the
// maximum and the final number of bytes from malloc, and `N mappings` of files and pages. With
// MTC_ALLOCATIONS_FROM=N, the stacks of some allocations after the program's N-th are written to
// the standard error.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <new>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
// The functions of glibc, which the functions below replace.
// NOLINTBEGIN(readability-identifier-naming)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);
// NOLINTEND(readability-identifier-naming)
}

namespace {

struct Object {
  std::atomic<const void *> base = nullptr;
  const char *name = nullptr;
  std::atomic<long> allocations = 0;
};

std::array<Object, 64> objects;
const void *programBase = nullptr;
std::atomic<long> live = 0, peak = 0, mappings = 0;
long shownFrom = -1;
constexpr long shownStacks = 20;
thread_local bool isShowing = false;

void showStack() {
  isShowing = true;
  std::array<void *, 24> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), STDERR_FILENO);
  if (write(STDERR_FILENO, "----\n", 5) < 0)
    abort();
  isShowing = false;
}

/// `caller` is an address in the calling object.
void count(const void *caller) {
  Dl_info info{};
  if (!dladdr(caller, &info))
    return;
  for (Object &object : objects) {
    const void *base = object.base;
    if (!base && object.base.compare_exchange_strong(base, info.dli_fbase)) {
      object.name = info.dli_fname;
      base = info.dli_fbase;
    }
    if (base != info.dli_fbase)
      continue;
    const long number = ++object.allocations;
    if (base == programBase && shownFrom >= 0 && number > shownFrom &&
        number <= shownFrom + shownStacks && !isShowing)
      showStack();
    return;
  }
}

void *counted(void *memory, const void *caller) {
  count(caller);
  const long now = live += static_cast<long>(malloc_usable_size(memory));
  for (long known = peak; known < now && !peak.compare_exchange_weak(known, now);)
    ;
  return memory;
}

struct Report {
  Report() {
    void *frame;
    backtrace(&frame, 1); // Loads what it needs.
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(getauxval(AT_ENTRY)), &info))
      programBase = info.dli_fbase;
    if (const char *from = std::getenv("MTC_ALLOCATIONS_FROM"))
      shownFrom = std::strtol(from, nullptr, 10);
  }
  ~Report() {
    const char *path = std::getenv("MTC_ALLOCATIONS");
    std::array<long, objects.size()> counts{};
    for (size_t i = 0; i < objects.size(); ++i)
      counts[i] = objects[i].allocations;
    const long maximum = peak, left = live, mapped = mappings;
    std::FILE *file = path ? std::fopen(path, "w") : nullptr;
    if (!file)
      return;
    for (size_t i = 0; i < objects.size(); ++i)
      if (counts[i])
        std::fprintf(file, "%ld %s\n", counts[i], objects[i].name);
    std::fprintf(file, "%ld peak\n%ld left\n%ld mappings\n", maximum, left, mapped);
    std::fclose(file);
  }
} report;

} // namespace

#define CALLER __builtin_return_address(0)

void *operator new(size_t bytes) {
  void *memory = __libc_malloc(bytes);
  if (!memory)
    throw std::bad_alloc();
  return counted(memory, CALLER);
}
void *operator new[](size_t bytes) {
  void *memory = __libc_malloc(bytes);
  if (!memory)
    throw std::bad_alloc();
  return counted(memory, CALLER);
}

extern "C" {

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes), CALLER); }

void *calloc(size_t number, size_t bytes) { return counted(__libc_calloc(number, bytes), CALLER); }

void *realloc(void *memory, size_t bytes) {
  live -= static_cast<long>(malloc_usable_size(memory));
  return counted(__libc_realloc(memory, bytes), CALLER);
}

void *memalign(size_t alignment, size_t bytes) {
  return counted(__libc_memalign(alignment, bytes), CALLER);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return counted(__libc_memalign(alignment, bytes), CALLER);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = counted(__libc_memalign(alignment, bytes), CALLER);
  return *memory ? 0 : ENOMEM;
}

void free(void *memory) {
  live -= static_cast<long>(malloc_usable_size(memory));
  __libc_free(memory);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  count(CALLER);
  ++mappings;
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset) {
  count(CALLER);
  ++mappings;
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
}
