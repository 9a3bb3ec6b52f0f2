// Shared memory of a block, with the last accesses to each granule. Detects races and reads of
// uninitialized bytes.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_SHARED_MEMORY_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_SHARED_MEMORY_H

#include "runtime/devices/cuda/emulated/execution/access_record.h"

#include <string>
#include <vector>

namespace mtc::runtime::emulation {

class SharedMemory {
public:
  /// Starts a new block, whose kernel declares `bytes` bytes. `granule`, a power of two, is the
  /// size that no access splits.
  void startBlock(size_t bytes, size_t granule);

  /// Records an access of `thread`. Returns whether the access is valid; if not, `wrong` is an
  /// error message.
  bool access(const void *address, uint64_t bytes, const MtcEmulatedAccess &access, unsigned thread,
              const AccessClock &clock, std::string &wrong);
  bool contains(const void *address);
  /// Returns the memory, aligned to `alignment`.
  char *data();

private:
  std::string describe(const void *address, uint64_t bytes, const MtcEmulatedAccess &access);

  static constexpr size_t alignment = 256;

  size_t size = 0;
  int granuleShift = 0; ///< log2 of the granule size
  std::vector<char> memory;
  std::vector<AccessRecord> granules;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_SHARED_MEMORY_H
