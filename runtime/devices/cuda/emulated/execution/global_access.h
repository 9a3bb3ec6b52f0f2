// Accesses of device memory by kernels.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H

#include "runtime/abi/emulation.h"

#include <string>

namespace mtc::runtime::emulation {

/// An access of `bytes` bytes at `address`. `parameter` is the one that the address is derived
/// from, null if unknown.
struct GlobalAccess {
  const void *address;
  uint64_t bytes;
  const char *parameter;
  const MtcEmulatedAccess &instruction;

  /// As "reads 4 bytes at offset 64 of parameter 0".
  std::string describe() const;
};

/// What is wrong with an access, as it is described, a comma and the reason; empty if nothing is.
std::string findGlobalFault(const GlobalAccess &access);

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_ACCESS_H
