/* Kernels of the target `cuda`: functions in images that the driver loads, or their emulation on
 * the CPU. */
#ifndef MTC_RUNTIME_ABI_CUDA_H
#define MTC_RUNTIME_ABI_CUDA_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs one thread of a launch. `parameters` are the addresses that the device function accepts. The
 * emulator supplies the thread and block indices and the shared memory. */
typedef void (*MtcEmulatedFunction)(char *const *parameters);

/* One launch on the device. Its parameters are addresses: the operands of the kernel's operation in
 * order (inputs, results, optional scratch), followed by an MtcFault in device memory if the kernel
 * may fault. Those of recurrent layers are in runtime/abi/cuda_recurrence.h. */
typedef struct MtcCudaLaunch {
  const char *symbol;           /* name in the kernel's image */
  MtcEmulatedFunction emulated; /* null unless the program is emulated */
  uint32_t grid[3], block[3];
  uint32_t
      shared_bytes; /* static shared memory per block; launches request no dynamic shared memory */
} MtcCudaLaunch;

/* The target of MtcKernel::code and MtcCall::code. Launches run in order; each may read the results
 * of the previous ones. */
typedef struct MtcCudaKernel {
  uint32_t image; /* index into images; unused in an emulated program */
  uint32_t launch_count;
  const MtcCudaLaunch *launches;
} MtcCudaKernel;

/* Format of the code, which determines on which devices it runs in addition to those of its own
 * compute capability. */
typedef enum MtcCudaCode {
  MTC_CUBIN = 0,       /* machine code (sm_90): later minor versions of the same major version */
  MTC_EXACT_CUBIN = 1, /* machine code (sm_90a): no other devices */
  MTC_PTX = 2          /* PTX (compute_90), compiled by the driver: all later devices */
} MtcCudaCode;

/* The code of some kernels for one architecture, in the form that the driver loads. */
typedef struct MtcCudaImage {
  const void *bytes;  /* a cubin, or null-terminated PTX text */
  int64_t byte_count; /* including the terminating null */
} MtcCudaImage;

/* The kernels compiled for one architecture, with one image per image index of the kernels. */
typedef struct MtcCudaArchitecture {
  uint32_t major, minor; /* compute capability */
  uint32_t code;         /* MtcCudaCode */
  const MtcCudaImage *images;
} MtcCudaArchitecture;

/* Precision to which f32 contractions may round their operands. */
typedef enum MtcCudaPrecision { MTC_CUDA_F32 = 0, MTC_CUDA_TF32 = 1 } MtcCudaPrecision;

typedef struct MtcCudaProgram {
  uint32_t is_emulated;
  uint32_t precision;      /* MtcCudaPrecision */
  uint32_t driver_version; /* minimum driver version for the images, in the encoding of
                              cuDriverGetVersion: 1000 * major + 10 * minor; 0 in an emulated
                              program */
  uint32_t image_count, architecture_count; /* architecture_count is 0 in an emulated program */
  const MtcCudaArchitecture *architectures;
} MtcCudaProgram;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CUDA_H */
