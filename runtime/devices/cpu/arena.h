// Memory of a program, whose size is known at compile time.
#ifndef MTC_RUNTIME_DEVICES_CPU_ARENA_H
#define MTC_RUNTIME_DEVICES_CPU_ARENA_H

#include <cstdint>

namespace mtc::runtime {

/// Zeroed memory, aligned to at least MTC_ALIGNMENT. All pages are committed before the first step,
/// so that the run cannot run out of memory later.
class Arena {
public:
  /// Throws a system error, with the bytes needed and available, if the memory cannot be allocated.
  Arena(int64_t bytes, int threads);
  /// Zeroes and uses the caller's memory, which must outlive the object.
  Arena(char *memory, int64_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  char *data() const { return start; }
  char *at(int64_t offset) const { return start + offset; }
  int64_t bytes() const { return size; }

private:
  char *start = nullptr;
  int64_t size = 0, mapped = 0; ///< `mapped` is 0 for the caller's memory
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_ARENA_H
