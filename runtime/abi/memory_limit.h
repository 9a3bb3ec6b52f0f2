/* Messages about exhausted memory, for the compiler and its programs. Libraries such as oneDNN and
 * LLVM do not check all of their allocations, so that a limit of the address space (ulimit -v) ends
 * them with a signal. All functions may be called by signal handlers. */
#ifndef MTC_RUNTIME_ABI_MEMORY_LIMIT_H
#define MTC_RUNTIME_ABI_MEMORY_LIMIT_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Less free address space than this is taken for the cause of a failure: code and stacks of
 * libraries are reserved in pieces of several MiB. */
#define MTC_MEMORY_RESERVE ((size_t)32 << 20)

/* Returns whether the process may map `bytes` more. */
static inline int mtc_can_reserve(size_t bytes) {
  void *mapped =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return 0;
  munmap(mapped, bytes);
  return 1;
}

/* Returns the limit of the address space in MiB; 0 if there is none. */
static inline size_t mtc_address_space_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return 0;
  return (size_t)(limit.rlim_cur >> 20);
}

static inline void mtc_write_text(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  if (write(STDERR_FILENO, text, length) < 0)
    return; /* Nothing is left to report it to. */
}

/* Writes "PREFIXerror: out of memory" and the limit of the address space to standard error. */
static inline void mtc_report_out_of_memory(const char *prefix) {
  char digits[24];
  size_t at = sizeof digits - 1, limit = mtc_address_space_limit();
  mtc_write_text(prefix);
  mtc_write_text("error: out of memory");
  if (limit) {
    digits[at] = 0;
    for (; limit; limit /= 10)
      digits[--at] = (char)('0' + limit % 10);
    mtc_write_text("; `ulimit -v` limits the address space to ");
    mtc_write_text(digits + at);
    mtc_write_text(" MiB: raise the limit, or remove it with `ulimit -v unlimited`");
  }
  mtc_write_text("\n");
}

#endif /* MTC_RUNTIME_ABI_MEMORY_LIMIT_H */
