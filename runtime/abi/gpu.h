/* Kernels of targets that are GPUs: functions in images that the driver loads, or their emulation
 * on the CPU. */
#ifndef MTC_RUNTIME_ABI_GPU_H
#define MTC_RUNTIME_ABI_GPU_H

#include "runtime/abi/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs one thread of a launch. `parameters` are the addresses that the device function accepts. The
 * emulator supplies the thread and block indices and the shared memory. */
typedef void (*MtcEmulatedFunction)(char *const *parameters);

/* One launch on the device. Its parameters are addresses: the operands of the kernel's operation in
 * order (inputs, results, optional scratch), followed by an MtcFault in device memory if the kernel
 * may fault. Those of recurrent layers are in runtime/abi/cuda_recurrence.h. */
typedef struct MtcGpuLaunch {
  const char *symbol;           /* name in the kernel's image */
  MtcEmulatedFunction emulated; /* null unless the program is emulated */
  uint32_t grid[3], block[3];
  uint32_t
      shared_bytes; /* static shared memory per block; launches request no dynamic shared memory */
} MtcGpuLaunch;

/* The target of MtcKernel::code and MtcCall::code. Launches run in order; each may read the results
 * of the previous ones. */
typedef struct MtcGpuKernel {
  uint32_t image; /* index into images; unused in an emulated program */
  uint32_t launch_count;
  const MtcGpuLaunch *launches;
} MtcGpuKernel;

/* The code of some kernels for one architecture, in the form that the driver loads. */
typedef struct MtcGpuImage {
  const void *bytes;  /* machine code, or null-terminated text such as PTX */
  int64_t byte_count; /* including the terminating null */
} MtcGpuImage;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_GPU_H */
