// Device memory of emulated programs: one address range with a shadow state for each byte.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_DEVICE_MEMORY_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_DEVICE_MEMORY_H

#include "runtime/abi/emulation.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace mtc::runtime::emulation {

class DeviceMemory {
public:
  static DeviceMemory &get();

  char *allocate(size_t bytes);
  void release(char *memory);
  void markDefined(const void *begin, size_t bytes);
  void markUndefined(const void *begin, size_t bytes);
  /// See `emulation::findFault`.
  std::string findFault(const void *begin, size_t bytes, bool isRead) const;

  /// Stores the address range for the inline checks of emulated code.
  void describe(MtcEmulatedBlock &block) const;
  bool contains(const void *address) const;
  /// Returns whether `findFault` would return no error, but takes less time.
  bool mayAccess(const void *begin, size_t bytes, bool isRead) const;

private:
  DeviceMemory();
  uint8_t *shadowOf(const void *address) const;

  /// Size of the reserved address range; unallocated addresses use no memory.
  static constexpr size_t capacity = size_t{1} << 38;

  char *memory;
  uint8_t *shadow;
  mutable std::mutex mutex;
  std::map<size_t, size_t> allocations; ///< offset to size in bytes
};

// Inlined, because emulated kernels check each access.
inline uint8_t *DeviceMemory::shadowOf(const void *address) const {
  return shadow + (static_cast<const char *>(address) - memory);
}

inline bool DeviceMemory::contains(const void *address) const {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(memory) <
         capacity - MTC_SHADOW_GUARD;
}

inline bool DeviceMemory::mayAccess(const void *begin, size_t bytes, bool isRead) const {
  if (!contains(begin) || bytes > MTC_SHADOW_GUARD)
    return false;
  // Eight states at a time. The guard after each address permits reading more than `bytes`.
  const uint64_t all =
      (MTC_SHADOW_ALLOCATED | (isRead ? MTC_SHADOW_DEFINED : 0)) * 0x0101010101010101u;
  const uint8_t *states = shadowOf(begin);
  uint64_t missing = 0;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t found;
    std::memcpy(&found, states + i, sizeof found);
    missing |= ~found & (bytes - i < 8 ? all & ((uint64_t{1} << (bytes - i) * 8) - 1) : all);
  }
  return missing == 0;
}

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_DEVICE_MEMORY_H
