// Runs device code that was compiled for the CPU, and checks its memory accesses.
//
// The emulated driver calls these functions. Device memory is allocated here, so that the state of
// each byte is known: whether it is allocated, and whether it has been written.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_EMULATOR_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_EMULATOR_H

#include "runtime/abi/cuda.h"

#include <cstddef>
#include <string>

namespace mtc::runtime::emulation {

/// Allocates uninitialized device memory at a multiple of 256. Returns null if there is none left.
char *allocate(size_t bytes);
/// Frees memory of `allocate`; null is ignored.
void release(char *memory);

/// Marks bytes of device memory as written by the host, a copy, a memset or a library.
void markDefined(const void *begin, size_t bytes);
/// Marks bytes of device memory as uninitialized.
void markUndefined(const void *begin, size_t bytes);

/// Checks an access by a copy or library: the bytes must be in one allocation and, if `isRead`,
/// initialized. Returns an error message, such as "12 bytes from ... are outside the device's
/// memory"; empty if the access is valid.
std::string findFault(const void *begin, size_t bytes, bool isRead);

/// Runs the blocks of a launch on `hostThreads` threads. Returns an error message, empty on
/// success: the launch, its `nodes`, the thread, and its invalid action. The message is that of the
/// first failing block, independent of the number of threads.
std::string launch(const MtcGpuLaunch &launch, char *const *parameters, const char *nodes,
                   int hostThreads);

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_EMULATOR_H
