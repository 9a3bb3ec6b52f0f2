// Runs device code that was compiled for the CPU, and checks what it does.
//
// The driver of emulated programs calls these functions. Device memory comes from here, so that
// each byte's state is known: whether it is allocated, and whether anything was written to it.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_EMULATOR_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_EMULATOR_H

#include "runtime/abi/cuda.h"

#include <cstddef>
#include <string>

namespace mtc::runtime::emulation {

/// Device memory at a multiple of 256, undefined. Null if there is no more.
char *allocate(size_t bytes);
/// Takes what `allocate` gave; null is nothing.
void release(char *memory);

/// Says that the host, a copy, a memset or a library wrote these bytes of device memory.
void markDefined(const void *begin, size_t bytes);

/// For copies and libraries: empty if the bytes lie in one allocation and, where `isRead`, are
/// defined. Otherwise what is wrong, as "12 bytes from ... are outside the device's memory".
std::string findFault(const void *begin, size_t bytes, bool isRead);

/// Runs a launch with its blocks on `hostThreads` threads. Empty if nothing was wrong, otherwise
/// one message: the launch, its `nodes`, the thread, and what it did. The same at any number of
/// threads: that of the first block that does something wrong.
std::string launch(const MtcCudaLaunch &launch, char *const *parameters, const char *nodes,
                   int hostThreads);

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_EMULATOR_H
