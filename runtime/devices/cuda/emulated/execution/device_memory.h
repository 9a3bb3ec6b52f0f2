// Device memory of emulated programs: one address range with a shadow state for each byte.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_DEVICE_MEMORY_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_DEVICE_MEMORY_H

#include "runtime/abi/emulation.h"

#include <cstddef>
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
  /// Returns whether `findFault` would return no error; faster.
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

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_DEVICE_MEMORY_H
