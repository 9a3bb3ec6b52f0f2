// Global-memory accesses of kernels.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H

#include "runtime/abi/emulation.h"

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
};

/// Returns the description of an invalid access, a comma and the reason; empty if the access is
/// valid.
std::string findGlobalFault(const GlobalAccess &access);

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H
