// Accesses of device memory by kernels.
#ifndef MTC_RUNTIME_CUDA_EMULATION_GLOBAL_ACCESS_H
#define MTC_RUNTIME_CUDA_EMULATION_GLOBAL_ACCESS_H

#include "runtime/abi/emulation.h"

#include <string>

namespace mtc::runtime::emulation {

/// What is wrong with an access, as "reads 4 bytes at offset 64 of parameter 0, ..."; empty if
/// nothing is. `parameter` is the one that the address is derived from, null if unknown.
std::string findGlobalFault(const void *address, uint64_t bytes, const char *parameter,
                            const MtcEmulatedAccess &access);

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_CUDA_EMULATION_GLOBAL_ACCESS_H
