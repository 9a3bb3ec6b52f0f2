// The program's memory: one allocation, sized when it was compiled.
#ifndef MTC_RUNTIME_DEVICES_CPU_ARENA_H
#define MTC_RUNTIME_DEVICES_CPU_ARENA_H

#include <cstdint>

namespace mtc::runtime {

/// Zeroed, aligned to MTC_ALIGNMENT at least, every page of it obtained before the first step, so
/// that the run cannot fail for memory later.
class Arena {
public:
  /// A fault of the system, with the bytes needed and available, if the memory cannot be had.
  Arena(int64_t bytes, int threads);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  char *data() const { return start; }
  char *at(int64_t offset) const { return start + offset; }
  int64_t bytes() const { return size; }

private:
  char *start = nullptr;
  int64_t size = 0, mapped = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_ARENA_H
