// Shared memory of a block, and who accessed each of its granules, which no access divides: finds
// races and reads of what nobody wrote.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_SHARED_MEMORY_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_SHARED_MEMORY_H

#include "runtime/devices/cuda/emulated/execution/access_record.h"

#include <string>
#include <vector>

namespace mtc::runtime::emulation {

class SharedMemory {
public:
  /// A new block begins; `bytes` is what its kernel declares, `granule` a power of two.
  void startBlock(size_t bytes, size_t granule);

  /// Records an access of `thread`; empty, or what is wrong with it.
  std::string access(const void *address, uint64_t bytes, const MtcEmulatedAccess &access,
                     unsigned thread, const AccessClock &clock);
  bool contains(const void *address);
  /// At a multiple of `alignment`.
  char *data();

private:
  static constexpr size_t alignment = 256;

  size_t size = 0;
  int granuleShift = 0; ///< of their bytes, as a power of two
  std::vector<char> memory;
  std::vector<AccessRecord> granules;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_SHARED_MEMORY_H
