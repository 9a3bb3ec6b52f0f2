// Global-memory accesses of kernels.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H

#include "runtime/abi/emulation.h"
#include "runtime/devices/cuda/emulated/execution/device_memory.h"

#include <string>

namespace mtc::runtime::emulation {

/// An access of `bytes` bytes at `address`, derived from `parameter`, which is null if unknown.
struct GlobalAccess {
  const void *address;
  uint64_t bytes;
  const char *parameter;
  const MtcEmulatedAccess &instruction;

  /// Returns a description such as "reads 4 bytes at offset 64 of parameter 0".
  std::string describe() const;
  /// Returns the offset in the parameter.
  int64_t offset() const {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address) -
                                reinterpret_cast<uintptr_t>(parameter));
  }
  bool isInExtent() const {
    return !parameter || instruction.extent < 0 ||
           (offset() >= 0 && offset() + static_cast<int64_t>(bytes) <= instruction.extent);
  }
  bool isAligned() const {
    return instruction.alignment <= 1 ||
           reinterpret_cast<uintptr_t>(address) % instruction.alignment == 0;
  }
};

/// Takes less time than `findGlobalFault`: returns true only if that function would return no
/// error, but false for some valid accesses.
inline bool isPlainlyValid(const GlobalAccess &access) {
  return access.isInExtent() && access.isAligned() &&
         DeviceMemory::get().mayAccess(access.address, access.bytes,
                                       access.instruction.kind != MTC_WRITE);
}

/// Returns the description of an invalid access, a comma and the reason; empty if the access is
/// valid.
std::string findGlobalFault(const GlobalAccess &access);

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H
